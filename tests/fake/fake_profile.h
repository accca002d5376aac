/* SPDX-License-Identifier: MIT */
/*
 * fake_profile - output directories made by hand, for tests of the reader
 *
 * They are made with the real writer (src/store/store.h), so that they hold
 * what the preload library would have written. Set up sandbox.h first.
 */
#ifndef COMDET_TESTS_FAKE_FAKE_PROFILE_H
#define COMDET_TESTS_FAKE_FAKE_PROFILE_H

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

#include "tests/sandbox.h"
#include "src/store/outdir.h"
#include "src/store/store.h"

struct fake {
	struct store store;
	struct store_writer threads, pairs, maps, cores, transfers;
	char dir[PATH_MAX]; /* absolute */
	char file[300];     /* name in it */
	int dirfd;
	uint32_t next_id;
};

/* Begin a process file in the output directory. */
static inline struct cdp_header *fake_begin_in(struct fake *f, int pid)
{
	struct cdp_header *h;

	f->threads.section = CDP_THREADS;
	f->pairs.section = CDP_PAIRS;
	f->maps.section = CDP_MAPS;
	f->cores.section = CDP_CORES;
	f->transfers.section = CDP_TRANSFERS;
	snprintf(f->file, sizeof(f->file), "fake.%d.%d.cdp", pid, 1);
	ck_assert_int_eq(store_create(&f->store, f->dirfd, f->file,
				      STORE_MAX_BYTES_DEFAULT),
			 0);
	h = f->store.header;
	h->state = CDP_ENDED;
	h->pid = pid;
	h->line_bytes = 64;
	h->start_real = UINT64_C(1700000000000000000);
	h->start_mono = 1000000000;
	h->last_mono = UINT64_C(3000000000);
	h->cpu_ns = UINT64_C(4000000000);
	h->period = 2000000;
	h->modes = CDP_MODE_COMM;
	h->registers = 4;
	h->cores = 2;
	h->expiry = 10000000;
	h->watch_expiry = 20000000;
	strcpy(h->run_id, "0123456789abcdef");
	strcpy(h->host, "fake-host");
	strcpy(h->kernel, "6.1.0-fake");
	strcpy(h->cpu, "Fake CPU");
	strcpy(h->source, "clock");
	strcpy(h->source_reason, "no PMU on this machine");
	strcpy(h->delivery, "sigtrap");
	strcpy(h->algorithm, "comdetective");
	strcpy(h->period_unit, "ns");
	strcpy(h->exe, "/usr/bin/fake");
	strcpy(h->command, "fake --threads 2");
	return h;
}

static inline struct cdp_header *fake_begin(struct fake *f)
{
	char wanted[128];

	memset(f, 0, sizeof(*f));
	snprintf(wanted, sizeof(wanted), "%s/out", sandbox);
	f->dirfd = outdir_create(wanted, "0123456789abcdef", f->dir,
				 sizeof(f->dir));
	ck_assert_int_ge(f->dirfd, 0);
	return fake_begin_in(f, 4242);
}

/* Begin another process of the same run; @f now stands for it. */
static inline struct cdp_header *fake_next(struct fake *f, int pid)
{
	store_release(&f->store);
	memset(&f->threads, 0, sizeof(f->threads));
	memset(&f->pairs, 0, sizeof(f->pairs));
	memset(&f->maps, 0, sizeof(f->maps));
	memset(&f->cores, 0, sizeof(f->cores));
	memset(&f->transfers, 0, sizeof(f->transfers));
	f->next_id = 0;
	return fake_begin_in(f, pid);
}

static inline void fake_end(struct fake *f)
{
	store_release(&f->store);
	close(f->dirfd);
}

/* Add a thread with some samples; the caller may change the record. */
static inline struct cdp_thread *fake_thread(struct fake *f, const char *name)
{
	struct cdp_thread *t = store_record(&f->store, &f->threads);

	ck_assert_ptr_nonnull(t);
	t->id = f->next_id++;
	t->tid = 5000 + t->id;
	t->state = CDP_THREAD_ENDED;
	t->count = 1;
	memcpy(t->name, name,
	       strlen(name) < sizeof(t->name) ? strlen(name) + 1
					      : sizeof(t->name) - 1);
	t->cpu_ns = 2000000000;
	t->interrupts = 1000;
	t->samples[SAMPLE_UNIFORM] = 480;
	t->samples[SAMPLE_STALLED] = 470;
	t->loads = 300;
	t->stores = 180;
	store_commit(&f->threads);
	return t;
}

/*
 * Add @count detections: @from stored 8 bytes at @a, @to stored 8 at @b.
 * Returns the record, which the caller may change.
 */
static inline struct cdp_pair *fake_pair(struct fake *f, uint32_t from,
					 uint32_t to, uint64_t a, uint64_t b,
					 uint64_t count)
{
	struct cdp_pair *p = store_record(&f->store, &f->pairs);

	ck_assert_ptr_nonnull(p);
	*p = (struct cdp_pair){
		.publisher_thread = from,
		.detector_thread = to,
		.publisher_addr = a,
		.detector_addr = b,
		.publisher_ip = 0x1000 + from,
		.detector_ip = 0x1000 + to,
		.publisher_len = 8,
		.detector_len = 8,
		.publisher_flags = ACCESS_STORE,
		.detector_flags = ACCESS_STORE,
		.sharing =
			a < b + 8 && b < a + 8 ? SHARING_TRUE : SHARING_FALSE,
		.by = DETECTED_BY_TRAP,
		.line = a & ~UINT64_C(63),
		.count = count,
		.periods_q8 = 512 * count,
		.map_generation = 1,
	};
	store_commit(&f->pairs);
	return p;
}

static inline struct cdp_map *fake_map(struct fake *f, uint64_t start,
				       uint64_t end, uint64_t offset,
				       uint32_t prot, const char *path)
{
	struct cdp_map *m = store_record(&f->store, &f->maps);

	ck_assert_ptr_nonnull(m);
	m->start = start;
	m->end = end;
	m->file_offset = offset;
	m->prot = prot;
	m->generation = 1;
	snprintf(m->path, sizeof(m->path), "%s", path);
	store_commit(&f->maps);
	return m;
}

static inline void fake_core(struct fake *f, uint32_t from, uint32_t to,
			     uint64_t true_n, uint64_t false_n)
{
	struct cdp_core *c = store_record(&f->store, &f->cores);

	ck_assert_ptr_nonnull(c);
	c->publisher_core = from;
	c->detector_core = to;
	c->count[SHARING_TRUE] = true_n;
	c->count[SHARING_FALSE] = false_n;
	store_commit(&f->cores);
}

/* Add a record of transfers with @n values of 8 bytes, integers or doubles. */
static inline void fake_transfer(struct fake *f, uint32_t kind, uint32_t a,
				 uint32_t b, const void *value, int n)
{
	struct cdp_transfer *t = store_record(&f->store, &f->transfers);

	ck_assert_ptr_nonnull(t);
	t->kind = kind;
	t->a = a;
	t->b = b;
	memcpy(t->value, value, n * sizeof(*t->value));
	store_commit(&f->transfers);
}

/* Begin a process of the source emu, which counts accesses. */
static inline struct cdp_header *fake_begin_emu(struct fake *f, uint32_t modes,
						uint64_t period)
{
	struct cdp_header *h = fake_begin(f);

	h->modes = modes;
	h->period = period;
	strcpy(h->period_unit, "accesses");
	strcpy(h->source, "emu");
	return h;
}

/* Files without a build-id that were written later are not believed. */
static inline void fake_begins_now(struct fake *f)
{
	f->store.header->start_real = (uint64_t)time(NULL) * 1000000000;
}

/* Add the mappings of this process, as the preload library records them. */
static inline void fake_own_maps(struct fake *f)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	struct cdp_map last = { 0 };
	char line[1024];

	ck_assert_ptr_nonnull(maps);
	fake_begins_now(f);
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset, inode;
		unsigned major, minor;
		char prot[8], path[CDP_PATH_BYTES] = "";
		struct cdp_map *m;
		int bits;

		if (sscanf(line,
			   "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64
			   " %x:%x %" SCNu64 " %255[^\n]",
			   &start, &end, prot, &offset, &major, &minor, &inode,
			   path) < 7)
			continue;
		bits = (prot[0] == 'r' ? 1 : 0) | (prot[1] == 'w' ? 2 : 0) |
		       (prot[2] == 'x' ? 4 : 0);
		/* The zeroed end of a module's data belongs to the module. */
		if (!path[0] && bits == 3 && last.path[0] == '/' &&
		    last.end == start && (last.prot & 2)) {
			memcpy(path, last.path, sizeof(path));
			offset = last.file_offset + (start - last.start);
			inode = last.inode;
			major = last.dev_major;
			minor = last.dev_minor;
		}
		if (!path[0])
			continue;
		m = fake_map(f, start, end, offset, bits, path);
		m->inode = inode;
		m->dev_major = major;
		m->dev_minor = minor;
		last = *m;
	}
	fclose(maps);
}

#endif
