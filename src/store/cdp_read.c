/* SPDX-License-Identifier: MIT */
/*
 * cdp_read - the reading side of a .cdp file
 *
 * Order matters while the writer still runs. A page's section and commit
 * counter are read in one system call and its records in a later one, so the
 * records are at least as new as the counter; newer records are cut off.
 *
 * Counters go on changing. Each is an aligned word that the writer stores at
 * once, but the kernel may copy it in parts. So a page is read until two copies
 * agree.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/exact/cache_sets.h"
#include "cdp_read.h"
#include "src/engine/reuse.h"
#include "src/engine/reuse_histogram.h"
#include "src/pmu/sample.h"
#include "src/pmu/memory.h"

#define SQUARES_MAX 1e60   /* no sum of squares of periods comes near */
#define COUNT_MAX   0x1p53 /* a double can hold every whole number below this */

enum {
	COPIES = 8, /* copies of a page at most, until two agree */
};

static int read_at(int fd, void *buf, size_t bytes, uint64_t offset)
{
	char *p = buf;

	while (bytes) {
		ssize_t n = pread(fd, p, bytes, offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EMSGSIZE;
		p += n;
		bytes -= n;
		offset += n;
	}
	return 0;
}

/* Read until two copies agree; after COPIES tries take the last. */
static int read_settled(int fd, void *buf, size_t bytes, uint64_t offset)
{
	char other[CDP_PAGE_BYTES];
	int err = read_at(fd, buf, bytes, offset);

	for (int n = 1; !err && n < COPIES; n++) {
		err = read_at(fd, other, bytes, offset);
		if (err || !memcmp(buf, other, bytes))
			break;
		memcpy(buf, other, bytes);
	}
	return err;
}

#define ends(string) (memchr(string, 0, sizeof(string)) != NULL)

static bool strings_end(const struct cdp_header *h)
{
	return ends(h->run_id) && ends(h->boot_id) && ends(h->host) &&
	       ends(h->kernel) && ends(h->cpu) && ends(h->source) &&
	       ends(h->source_reason) && ends(h->delivery) &&
	       ends(h->algorithm) && ends(h->period_unit) &&
	       ends(h->registers_reason) && ends(h->exe) && ends(h->command) &&
	       ends(h->note);
}

/* Version 1 has these sections, in this order; the last ones may be missing. */
static bool sections_fit(const struct cdp_header *h)
{
	if (h->sections < CDP_CORES)
		return false;
	for (uint32_t i = 1; i <= h->sections; i++) {
		const struct cdp_section_entry *e = &h->section[i - 1];

		if (e->type != i || e->record_bytes != cdp_record_bytes(i) ||
		    !ends(e->name))
			return false;
	}
	return true;
}

static bool header_fits(const struct cdp_header *h)
{
	const uint32_t modes = CDP_MODE_COMM | CDP_MODE_REUSE |
			       CDP_MODE_SHARED | CDP_MODE_GLOBAL |
			       CDP_MODE_PROFILE;

	return h->header_bytes == CDP_HEADER_BYTES &&
	       h->page_bytes == CDP_PAGE_BYTES && sections_fit(h) &&
	       strings_end(h) && h->pages && h->state >= CDP_RUNNING &&
	       h->state <= CDP_STOPPED && !(h->modes & ~modes) &&
	       h->registers <= COMM_REGISTERS_MAX &&
	       h->cores <= CDP_CORES_MAX && h->line_bytes <= CDP_PAGE_BYTES &&
	       !(h->line_bytes & (h->line_bytes - 1));
}

static int check_file(struct cdp_reader *r)
{
	static const char no_magic[sizeof(r->header.magic)];
	struct cdp_header *h = &r->header;
	struct stat st;
	size_t bytes;
	int err;

	if (fstat(r->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EBADMSG;
	r->bytes = st.st_size;
	bytes = r->bytes < sizeof(*h) ? r->bytes : sizeof(*h);
	err = read_settled(r->fd, h, bytes, 0);
	if (err)
		return err;
	if (bytes < sizeof(h->magic))
		return memcmp(h->magic, CDP_MAGIC, bytes) ? -EBADMSG
							  : -EMSGSIZE;
	if (!memcmp(h->magic, no_magic, sizeof(no_magic)))
		return -EMSGSIZE;
	if (memcmp(h->magic, CDP_MAGIC, sizeof(h->magic)))
		return -EBADMSG;
	if (bytes < offsetof(struct cdp_header, header_bytes))
		return -EMSGSIZE;
	if (h->version != CDP_VERSION)
		return -EPROTO;
	if (bytes < sizeof(*h))
		return -EMSGSIZE;
	if (h->sections >= CDP_SECTIONS)
		return -EPROTO;
	if (!header_fits(h))
		return -ENODATA;
	/* The writer may have let it grow since fstat, but never shrink. */
	if (fstat(r->fd, &st))
		return -errno;
	r->bytes = st.st_size;
	if (r->bytes > CDP_BYTES_MAX)
		return -ENODATA;
	if (r->bytes < h->bytes || r->bytes < CDP_PAGE_BYTES)
		return -EMSGSIZE;
	/* Pages handed out but not yet backed lie beyond the end. */
	r->pages = r->bytes / CDP_PAGE_BYTES - 1;
	if (r->pages > h->pages - 1)
		r->pages = h->pages - 1;
	if (!h->line_bytes)
		h->line_bytes = 64;
	return 0;
}

/* Room for the section of each page; without it all pages are asked. */
static void note_sections(struct cdp_reader *r)
{
	void *mem = mmap(NULL, r->pages + 1, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	r->section = mem == MAP_FAILED ? NULL : mem;
}

int cdp_open(struct cdp_reader *r, int dirfd, const char *name)
{
	int err;

	memset(r, 0, sizeof(*r));
	r->fd = openat(dirfd, name,
		       O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY |
			       O_CLOEXEC);
	if (r->fd < 0)
		return errno == ENXIO ? -EBADMSG : -errno; /* a socket */
	err = check_file(r);
	if (err)
		cdp_close(r);
	else
		note_sections(r);
	return err;
}

void cdp_close(struct cdp_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	if (r->section)
		munmap(r->section, r->pages + 1);
	memset(r, 0, sizeof(*r));
	r->fd = -1;
}

const char *cdp_strerror(int error)
{
	const char *text;

	switch (-error) {
	case EBADMSG:
		return "not a .cdp file";
	case EPROTO:
		return "written by another version of comdet (this one reads "
		       "format 1)";
	case EMSGSIZE:
		return "cut short: truncated, or its process was killed before "
		       "it began to write";
	case ENODATA:
		return "damaged: its header contradicts itself";
	case EISDIR:
		return "a directory, not a .cdp file";
	case ELOOP:
		return "a symbolic link, which is not followed";
	}
	text = strerrordesc_np(-error);
	return text ? text : "unknown error";
}

static bool thread_fits(const struct cdp_thread *t)
{
	return t->state >= CDP_THREAD_LIVE && t->state <= CDP_THREAD_FREE &&
	       ends(t->name);
}

static bool pair_fits(const struct cdp_pair *p)
{
	const uint16_t flags =
		ACCESS_LOAD | ACCESS_STORE | ACCESS_LOCKED | ACCESS_IMPLICIT;

	return p->sharing < SHARING_KINDS && p->by <= DETECTED_BY_LOOK &&
	       !((p->publisher_flags | p->detector_flags) & ~flags) &&
	       !p->publisher_len == !p->detector_len && p->count;
}

static bool map_fits(const struct cdp_map *m)
{
	return m->start < m->end && ends(m->path) &&
	       !(m->prot & ~(PROT_READ | PROT_WRITE | PROT_EXEC)) &&
	       m->build_id_bytes <= sizeof(m->build_id);
}

static bool core_fits(const struct cdp_core *c)
{
	return c->publisher_core < CDP_CORES_MAX &&
	       c->detector_core < CDP_CORES_MAX &&
	       (c->count[SHARING_TRUE] || c->count[SHARING_FALSE]);
}

static bool transfer_fits(const struct cdp_transfer *t)
{
	return t->kind >= CDP_EXACT_CELL && t->kind < CDP_TRANSFER_KINDS;
}

static bool slices_fit(const struct cdp_memory_slices *s)
{
	return s->shift >= CDP_SLICE_SHIFT_MIN &&
	       s->shift <= CDP_SLICE_SHIFT_MAX &&
	       s->first <= (UINT64_MAX >> s->shift) - CDP_SLICES;
}

static bool memory_fits(const struct cdp_memory *m)
{
	const uint32_t access = ACCESS_LOAD | ACCESS_STORE;

	if (m->access & ~access)
		return false;
	switch (m->kind) {
	case CDP_MEMORY_EVENT:
		return ends(m->event.name);
	case CDP_MEMORY_SITE:
	case CDP_MEMORY_LINE:
		return m->access && m->tally.source < DATA_SOURCE_COUNT &&
		       m->tally.samples && m->tally.periods_squared >= 0 &&
		       m->tally.periods_squared < SQUARES_MAX;
	case CDP_MEMORY_BLOCK:
		return !m->access && m->block.bytes &&
		       m->block.bytes < UINT64_MAX - m->block.start &&
		       m->block.path <= CDP_PATHS_MAX;
	case CDP_MEMORY_CALLS:
		return !m->access && m->calls.count &&
		       m->calls.sharing < SHARING_KINDS &&
		       m->calls.publisher_path <= CDP_PATHS_MAX &&
		       m->calls.detector_path <= CDP_PATHS_MAX;
	case CDP_MEMORY_REGION:
		return !m->access && ends(m->region.name) && *m->region.name;
	case CDP_MEMORY_SLICES:
	case CDP_MEMORY_SAMPLED:
		return !m->access && slices_fit(&m->slices);
	default:
		return false;
	}
}

static bool mass_fits(double mass)
{
	return mass >= 0 && mass < SQUARES_MAX;
}

static bool masses_fit(const struct cdp_reuse *r)
{
	return mass_fits(r->weight) && mass_fits(r->squares) &&
	       mass_fits(r->offset) && mass_fits(r->offset_squares);
}

static bool use_fits(const struct cdp_reuse *r)
{
	return r->scope < REUSE_SCOPES &&
	       r->granularity < REUSE_GRANULARITIES &&
	       r->outcome > REUSE_NOTHING && r->outcome < REUSE_OUTCOMES &&
	       r->pairing < REUSE_PAIRINGS && r->spatial < 2 &&
	       r->bin < REUSE_BINS && r->weight >= 1 && masses_fit(r);
}

static bool cache_fits(const struct cdp_reuse *r)
{
	uint32_t sets = cdp_cache_sets(r->end_ip);
	uint32_t ways = cdp_cache_ways(r->end_ip);

	return (r->scope == REUSE_PRIVATE || r->scope == REUSE_GLOBAL) &&
	       r->granularity == REUSE_LINE && r->outcome == REUSE_NOTHING &&
	       (r->pairing == REUSE_RAR || r->pairing == REUSE_RAW) &&
	       !r->spatial && r->bin >= 1 && r->bin <= CACHE_SETS_DEPTH_MAX &&
	       sets && ways && ways <= CACHE_SETS_WAYS_MAX &&
	       sets <= CACHE_SETS_LINES_MAX / ways && masses_fit(r) &&
	       r->weight <= COUNT_MAX && (double)r->count <= COUNT_MAX;
}

static bool reuse_fits(const struct cdp_reuse *r)
{
	switch (r->kind) {
	case CDP_REUSE_BIN:
	case CDP_REUSE_PAIR:
	case CDP_REUSE_EXACT:
	case CDP_REUSE_STACK:
	case CDP_REUSE_PATHS:
		return use_fits(r);
	case CDP_REUSE_CACHE:
		return cache_fits(r);
	default:
		return false;
	}
}

static bool path_fits(const struct cdp_path *p)
{
	return p->node && p->node <= CDP_PATHS_MAX && p->parent < p->node &&
	       !(p->flags & ~(uint32_t)CDP_PATH_RECURS);
}

static bool record_fits(enum cdp_section section, const void *record)
{
	switch (section) {
	case CDP_THREADS:
		return thread_fits(record);
	case CDP_PAIRS:
		return pair_fits(record);
	case CDP_MAPS:
		return map_fits(record);
	case CDP_CORES:
		return core_fits(record);
	case CDP_TRANSFERS:
		return transfer_fits(record);
	case CDP_MEMORY:
		return memory_fits(record);
	case CDP_REUSE:
		return reuse_fits(record);
	case CDP_PATHS:
		return path_fits(record);
	default:
		return false;
	}
}

static bool is_free(enum cdp_section section, const void *record)
{
	return section == CDP_THREADS &&
	       ((const struct cdp_thread *)record)->state == CDP_THREAD_FREE;
}

int cdp_each(struct cdp_reader *r, enum cdp_section section,
	     int (*each)(void *ctx, const void *record), void *ctx,
	     uint64_t *bad)
{
	_Alignas(16) char buf[CDP_PAGE_BYTES];
	uint32_t bytes = cdp_record_bytes(section);
	uint64_t nobody = 0;

	if (!bytes)
		return -EINVAL;
	if (!bad)
		bad = &nobody;
	for (uint64_t n = 1; n <= r->pages; n++) {
		uint64_t at = n * CDP_PAGE_BYTES;
		struct cdp_page page;
		int err;

		/* Once a page has a section, it keeps it. */
		if (r->section && r->section[n] && r->section[n] != section)
			continue;
		err = read_settled(r->fd, &page, sizeof(page), at);
		if (err)
			return err;
		if (page.section >= CDP_SECTIONS)
			++*bad;
		else if (r->section)
			r->section[n] = (uint8_t)page.section;
		if (page.section != section)
			continue;
		if (page.committed > cdp_records_a_page(section)) {
			++*bad;
			continue;
		}
		at += CDP_PAGE_HEADER_BYTES;
		err = read_settled(r->fd, buf, page.committed * bytes, at);
		for (uint32_t i = 0; !err && i < page.committed; i++) {
			const char *record = buf + i * bytes;

			if (!record_fits(section, record))
				++*bad;
			else if (!is_free(section, record))
				err = each(ctx, record);
		}
		if (err)
			return err;
	}
	return 0;
}
