/* SPDX-License-Identifier: MIT */
/*
 * cdp_file - a small .cdp file with a record of every kind, to be damaged
 */
#ifndef COMDET_TESTS_SRC_STORE_CDP_FILE_H
#define COMDET_TESTS_SRC_STORE_CDP_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/sandbox.h"
#include "src/store/cdp_read.h"
#include "src/store/store.h"
#include "src/store/core_table.h"
#include "src/store/pair_table.h"

#define NAME "a.1.1.cdp"

enum {
	PAGES = 10,
	RECORDS = 14
};

static int file = -1;
static char good[PAGES * CDP_PAGE_BYTES];

/*
 * One thread, a free row, two pairs, a map, two pairs of cores, a transfer, a
 * tally of memory accesses, a bin of reuses, misses of a cache, a path of two
 * calls.
 */
static inline void setup(void)
{
	struct detection d = {
		.publisher = { .addr = 0x1000,
			       .len = 8,
			       .flags = ACCESS_STORE },
		.detector = { .addr = 0x1008, .len = 8, .flags = ACCESS_LOAD },
		.line = 0x1000,
		.sharing = SHARING_FALSE,
		.periods_q8 = 256,
	};
	struct store_writer threads = { .section = CDP_THREADS };
	struct store_writer maps = { .section = CDP_MAPS };
	struct store_writer transfers = { .section = CDP_TRANSFERS };
	struct store_writer memory = { .section = CDP_MEMORY };
	struct store_writer reuses = { .section = CDP_REUSE };
	struct store_writer paths = { .section = CDP_PATHS };
	struct pair_table pairs = { .writer.section = CDP_PAIRS };
	struct core_table cores = { .writer.section = CDP_CORES };
	struct cdp_transfer *x;
	struct cdp_memory *y;
	struct cdp_reuse *u;
	struct cdp_path *c;
	struct cdp_thread *t;
	struct cdp_map *m;
	struct store s;

	sandbox_setup();
	ck_assert_int_eq(store_create(&s, sandbox_fd, NAME, sizeof(good)), 0);
	strcpy(s.header->exe, "/bin/true");
	s.header->line_bytes = 64;
	t = store_record(&s, &threads);
	t->state = CDP_THREAD_LIVE;
	strcpy(t->name, "worker");
	store_commit(&threads);
	t = store_record(&s, &threads);
	t->state = CDP_THREAD_FREE;
	store_commit(&threads);
	m = store_record(&s, &maps);
	m->start = 0x1000;
	m->end = 0x2000;
	m->prot = 3;
	strcpy(m->path, "/bin/true");
	store_commit(&maps);
	x = store_record(&s, &transfers);
	x->kind = CDP_EXACT_CELL;
	store_commit(&transfers);
	y = store_record(&s, &memory);
	y->kind = CDP_MEMORY_SITE;
	y->access = ACCESS_LOAD;
	y->tally.samples = 1;
	store_commit(&memory);
	y = store_record(&s, &memory);
	y->kind = CDP_MEMORY_SLICES;
	y->slices.shift = CDP_SLICE_SHIFT_MIN;
	y->slices.first = 1200;
	y->slices.count[3] = 1;
	store_commit(&memory);
	u = store_record(&s, &reuses);
	u->kind = CDP_REUSE_BIN;
	u->outcome = 1;
	u->weight = 1;
	store_commit(&reuses);
	u = store_record(&s, &reuses);
	u->kind = CDP_REUSE_CACHE;
	u->granularity = 1;
	u->bin = 1;
	u->end_ip = cdp_cache_shape(64, 12);
	store_commit(&reuses);
	for (uint32_t n = 0; n < 2; n++) {
		c = store_record(&s, &paths);
		*c = (struct cdp_path){ n + 1, n, 0x1000, 0, n, 0 };
		store_commit(&paths);
	}
	for (int n = 0; n < 2; n++) {
		d.publisher_thread = d.publisher_core = n;
		ck_assert_int_eq(pair_table_add(&s, &pairs, &d, 1, 0), 0);
		ck_assert_int_eq(core_table_add(&s, &cores, &d), 0);
	}
	pair_table_release(&pairs);
	core_table_release(&cores);
	store_release(&s);
	file = openat(sandbox_fd, NAME, O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(pread(file, good, sizeof(good), 0), sizeof(good));
}

static inline void teardown(void)
{
	close(file);
	sandbox_teardown();
}

static inline void put(const void *bytes, size_t n, uint64_t at)
{
	ck_assert_int_eq(pwrite(file, bytes, n, at), n);
}

#define put_field(type, field, ...)                                            \
	do {                                                                   \
		typeof(((type *)0)->field) value_ = __VA_ARGS__;               \
		put(&value_, sizeof(value_), at + offsetof(type, field));      \
	} while (0)

/* The page of a section in @good: the order of setup is not assumed. */
static inline uint64_t page_of(enum cdp_section section)
{
	for (uint64_t at = CDP_PAGE_BYTES; at < sizeof(good);
	     at += CDP_PAGE_BYTES)
		if (((struct cdp_page *)(void *)(good + at))->section ==
		    section)
			return at;
	ck_abort_msg("no page");
	return 0;
}

static inline int open_file(struct cdp_reader *r)
{
	return cdp_open(r, sandbox_fd, NAME);
}

static inline bool check_memory(const struct cdp_memory *y)
{
	if (y->kind == 7 || y->kind == 8)
		return !y->access && y->slices.shift >= 22 &&
		       y->slices.shift <= 57 &&
		       y->slices.first <= (UINT64_MAX >> y->slices.shift) - 12;
	return y->access < 4 && (y->kind == 1 ? strnlen(y->event.name, 48) < 48
					      : y->kind < 4 && y->access &&
							y->tally.source < 16 &&
							y->tally.samples);
}

static inline bool check_reuse(const struct cdp_reuse *u)
{
	uint64_t sets = u->end_ip & UINT32_MAX, ways = u->end_ip >> 32;

	if (u->kind == 6)
		return u->scope % 2 == 0 && u->scope < 3 &&
		       u->granularity == 1 && !u->outcome && u->pairing < 2 &&
		       !u->spatial && u->bin >= 1 && u->bin <= 9 &&
		       sets * ways >= 1 && sets * ways <= 1 << 24 &&
		       ways <= 128 && u->weight >= 0;
	return u->kind >= 1 && u->kind <= 5 && u->scope < 3 &&
	       u->granularity < 2 && u->outcome >= 1 && u->outcome <= 5 &&
	       u->pairing < 4 && u->spatial < 2 && u->bin < 368 &&
	       u->weight > 0;
}

/* True if a record is valid, by the format's definition. */
static inline void check_record(enum cdp_section section, const void *record)
{
	const struct cdp_thread *t = record;
	const struct cdp_pair *p = record;
	const struct cdp_map *m = record;
	const struct cdp_core *c = record;
	const struct cdp_transfer *x = record;
	const struct cdp_memory *y = record;
	const struct cdp_reuse *u = record;
	const struct cdp_path *n = record;
	bool right = false;

	switch (section) {
	case CDP_THREADS:
		right = t->state >= CDP_THREAD_LIVE &&
			t->state <= CDP_THREAD_MERGED &&
			strnlen(t->name, 16) < 16;
		break;
	case CDP_PAIRS:
		right = p->sharing < 2 && p->by <= DETECTED_BY_LOOK &&
			p->count && p->publisher_flags < 16 &&
			p->detector_flags < 16;
		break;
	case CDP_MAPS:
		right = m->start < m->end && strnlen(m->path, 256) < 256 &&
			m->build_id_bytes <= 20 && m->prot < 8;
		break;
	case CDP_CORES:
		right = c->publisher_core < 8192 && c->detector_core < 8192;
		break;
	case CDP_TRANSFERS:
		right = x->kind >= 1 && x->kind <= 9;
		break;
	case CDP_MEMORY:
		right = check_memory(y);
		break;
	case CDP_REUSE:
		right = u->squares >= 0 && u->offset >= 0 &&
			u->offset_squares >= 0 && check_reuse(u);
		break;
	case CDP_PATHS:
		right = n->parent < n->node && n->node <= 1 << 20 &&
			n->flags < 2;
		break;
	default:
		break;
	}
	if (!right)
		ck_abort_msg("a wrong record of section %d", section);
}

struct walk {
	enum cdp_section section;
	uint64_t records;
};

static inline int walk_record(void *ctx, const void *record)
{
	struct walk *w = ctx;

	check_record(w->section, record);
	w->records++;
	return 0;
}

/* Read everything. Returns the number of records, or the error. */
static inline int read_all(uint64_t *bad)
{
	struct walk w = { 0 };
	struct cdp_reader r;
	int err = open_file(&r);

	if (err) {
		if (err != -EBADMSG && err != -EPROTO && err != -EMSGSIZE &&
		    err != -ENODATA)
			ck_abort_msg("error %d", err);
		return err;
	}
	for (w.section = CDP_THREADS; !err && w.section < CDP_SECTIONS;
	     w.section++)
		err = cdp_each(&r, w.section, walk_record, &w, bad);
	cdp_close(&r);
	return err ? err : (int)w.records;
}

#endif
