/* SPDX-License-Identifier: MIT */
/*
 * maps - which files are mapped where, read from the kernel's list
 *
 * dlopen is not hooked. The maps are read at the start, at the end, and when
 * a detection's instruction lies in no mapping that we know, at most ten
 * times a second, less often where that takes long. Each reading is a
 * generation; only mappings that the last one did not have are written to the
 * file, so that an address that is reused by another library keeps both
 * meanings, each with its generation.
 *
 * One thread reads at a time; who finds the lock taken goes on without.
 * A look-up runs beside a reading: it may see the table half renewed, and
 * then at worst asks for a reading that was not needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <elf.h>

#include "src/maps/map_range.h"
#include "maps.h"
#include "memread.h"
#include "runtime.h"
#include "timing.h"
#include "sys.h"
#include "src/base/signal_safe.h"

enum {
	RANGES_LITTLE = 4096, /* where address space is limited */
	RANGES_MAX = 65536, /* as many as vm.max_map_count allows by default */
	LINE_MAX_BYTES = 4096,
	REREAD_NS = 100 * 1000 * 1000,
	REREAD_SHARE = 50, /* at most 1/50 of the time */
};

static uint32_t ranges_max;
static struct map_range *tables[2]; /* the current one and the one before */
static _Atomic uint32_t current;
static _Atomic uint32_t counts[2];
static _Atomic uint64_t generation;
static _Atomic uint64_t next_read;
static atomic_flag reading = ATOMIC_FLAG_INIT;
static struct store_writer writer = { .section = CDP_MAPS };
static char buffer[LINE_MAX_BYTES];

struct cursor {
	const char *p, *end;
};

static uint64_t parse_hex(struct cursor *c)
{
	uint64_t v = 0;

	for (; c->p < c->end; c->p++) {
		char d = *c->p;

		if (d >= '0' && d <= '9')
			v = v * 16 + (d - '0');
		else if (d >= 'a' && d <= 'f')
			v = v * 16 + (d - 'a' + 10);
		else
			break;
	}
	return v;
}

static uint64_t parse_decimal(struct cursor *c)
{
	uint64_t v = 0;

	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
		v = v * 10 + (*c->p - '0');
	return v;
}

static void skip(struct cursor *c, char what)
{
	while (c->p < c->end && *c->p == what)
		c->p++;
}

/* One line of /proc/self/maps into @m; false if it is not one. */
static bool parse_line(const char *p, const char *end, struct cdp_map *m)
{
	struct cursor c = { p, end };
	size_t n;

	memset(m, 0, sizeof(*m));
	m->start = parse_hex(&c);
	skip(&c, '-');
	m->end = parse_hex(&c);
	skip(&c, ' ');
	if (c.end - c.p < 5 || m->end <= m->start)
		return false;
	m->prot = (c.p[0] == 'r' ? PROT_READ : 0) |
		  (c.p[1] == 'w' ? PROT_WRITE : 0) |
		  (c.p[2] == 'x' ? PROT_EXEC : 0);
	c.p += 4;
	skip(&c, ' ');
	m->file_offset = parse_hex(&c);
	skip(&c, ' ');
	m->dev_major = parse_hex(&c);
	skip(&c, ':');
	m->dev_minor = parse_hex(&c);
	skip(&c, ' ');
	m->inode = parse_decimal(&c);
	skip(&c, ' ');
	n = c.end - c.p;
	if (n > sizeof(m->path) - 1)
		n = sizeof(m->path) - 1;
	memcpy(m->path, c.p, n);
	return true;
}

/* The build-id of the ELF file mapped at @m, read from its notes in memory. */
static void find_build_id(struct cdp_map *m)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (memread(NULL, m->start, &eh, sizeof(eh)) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phnum > 64 ||
	    eh.e_phentsize != sizeof(ph))
		return;
	for (int i = 0; i < eh.e_phnum; i++) {
		uint64_t at = m->start + eh.e_phoff + i * sizeof(ph), end;

		if (memread(NULL, at, &ph, sizeof(ph)))
			return;
		if (ph.p_type != PT_NOTE || ph.p_offset > m->end - m->start)
			continue;
		at = m->start + ph.p_offset;
		end = at + (ph.p_filesz < 4096 ? ph.p_filesz : 4096);
		while (at + sizeof(Elf64_Nhdr) < end) {
			Elf64_Nhdr nh;
			char name[4];

			if (memread(NULL, at, &nh, sizeof(nh)))
				return;
			if (nh.n_namesz > 256 || nh.n_descsz > 4096)
				break;
			at += sizeof(nh);
			if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == 4 &&
			    nh.n_descsz <= sizeof(m->build_id) &&
			    !memread(NULL, at, name, 4) &&
			    !memcmp(name, "GNU", 4) &&
			    !memread(NULL, at + 4, m->build_id, nh.n_descsz)) {
				m->build_id_bytes = nh.n_descsz;
				return;
			}
			at += ((nh.n_namesz + 3) & ~3u) +
			      ((nh.n_descsz + 3) & ~3u);
		}
	}
}

static bool was_known(const struct map_range *r, uint32_t n,
		      const struct map_range *x)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (r[mid].start < x->start)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && map_range_same(&r[low], x);
}

struct reader {
	const struct map_range *before;
	struct map_range *now;
	uint32_t n_before, n_now;
	uint64_t generation;
	struct cdp_map last_file; /* to name the zero-filled end of its data */
};

static void take_mapping(struct reader *r, struct cdp_map *m)
{
	struct map_range x;
	struct cdp_map *record;

	map_name_bss(m, &r->last_file);
	if (!m->path[0] && !(m->prot & PROT_EXEC))
		return;
	if (m->path[0] == '/')
		r->last_file = *m;
	x = map_range(m);
	if (r->n_now == ranges_max) /* it would be written each time */
		return;
	r->now[r->n_now++] = x;
	if (was_known(r->before, r->n_before, &x))
		return;
	if (m->path[0] == '/' && !m->file_offset)
		find_build_id(m);
	record = store_record(&runtime.store, &writer);
	if (!record)
		return;
	m->generation = r->generation;
	*record = *m;
	store_commit(&writer);
}

/* That of "self" is empty once the main thread has ended. */
static long open_maps(void)
{
	long fd = sys_call4(SYS_openat, AT_FDCWD, "/proc/thread-self/maps",
			    O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		fd = sys_call4(SYS_openat, AT_FDCWD, "/proc/self/maps",
			       O_RDONLY | O_CLOEXEC, 0);
	return fd;
}

static void read_maps(void)
{
	static struct reader r;
	static struct cdp_map m;
	uint32_t old = atomic_load(&current);
	size_t have = 0;
	long fd, got;

	fd = open_maps();
	if (fd < 0)
		return;
	memset(&r, 0, sizeof(r));
	r.before = tables[old];
	r.n_before = atomic_load(&counts[old]);
	r.now = tables[!old];
	r.generation = atomic_load(&generation) + 1;
	for (;;) {
		char *line = buffer, *end;

		got = sys_call3(SYS_read, fd, buffer + have,
				sizeof(buffer) - have);
		if (got <= 0)
			break;
		have += got;
		while ((end = memchr(line, '\n', buffer + have - line))) {
			if (parse_line(line, end, &m))
				take_mapping(&r, &m);
			line = end + 1;
		}
		have = buffer + have - line;
		if (have == sizeof(buffer)) /* no newline in all of it */
			have = 0;
		memmove(buffer, line, have);
	}
	sys_call1(SYS_close, fd);
	atomic_store(&counts[!old], r.n_now);
	atomic_store(&current, !old);
	atomic_store(&generation, r.generation);
}

static bool ip_known(uint64_t ip)
{
	uint32_t at = atomic_load(&current), n = atomic_load(&counts[at]);
	const struct map_range *r = tables[at];
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (r[mid].end <= ip)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && r[low].start <= ip && r[low].exec;
}

/* After a reading that began at @begin: a long one is not done often. */
static void set_next_read(uint64_t begin)
{
	uint64_t now = now_ns(), wait = (now - begin) * REREAD_SHARE;

	atomic_store(&next_read, now + (wait > REREAD_NS ? wait : REREAD_NS));
}

int maps_init(void)
{
	struct map_range *mem;

	if (tables[0]) /* a followed child starts afresh */
		munmap(tables[0], 2 * ranges_max * sizeof(struct map_range));
	tables[0] = NULL;
	ranges_max = runtime.little_space ? RANGES_LITTLE : RANGES_MAX;
	mem = mmap(NULL, 2 * ranges_max * sizeof(struct map_range),
		   PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		return -errno;
	tables[0] = mem;
	tables[1] = mem + ranges_max;
	atomic_store(&counts[0], 0);
	atomic_store(&counts[1], 0);
	atomic_store(&generation, 0);
	writer = (struct store_writer){ .section = CDP_MAPS };
	atomic_flag_clear(&reading);
	read_maps();
	set_next_read(now_ns());
	return 0;
}

uint64_t maps_note(uint64_t ip)
{
	uint64_t now;

	if (ip_known(ip) || !tables[0])
		return atomic_load(&generation);
	now = now_ns();
	if (now > atomic_load(&next_read) &&
	    !atomic_flag_test_and_set(&reading)) {
		read_maps();
		set_next_read(now);
		atomic_flag_clear(&reading);
	}
	return atomic_load(&generation);
}

void maps_finish(void)
{
	if (!tables[0] || atomic_flag_test_and_set(&reading))
		return;
	read_maps();
	atomic_flag_clear(&reading);
}
