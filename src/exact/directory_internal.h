/* SPDX-License-Identifier: MIT */
/*
 * directory_internal - the memory layout of the exact directory
 *
 * directory_setup.c lays it out, directory.c uses it, directory_lines.c reads
 * it.
 *
 * A line has a word of state, a word of bytes that its owner stored, and a
 * record. While one thread has the line to itself, the two words say
 *everything, and the record may never have been touched.
 *
 *   0		no thread has accessed the line
 *   OWNED	only thread @owner has touched the line since its last store,
 *		if there was one. The owner made that store and all @count
 *		stores since the record was written; the last of them stored
 *		@length + 1 bytes from @start on. With count 0 there was none.
 *		The word beside the state has the bytes of all of them.
 *   SHARED	the record says everything; further loads by the threads whose
 *		bits are set change nothing
 *   LOCKED	a thread is changing the record
 *
 *   OWNED	63    told: of the owner's accesses to bytes that it has not
 *		      stored, the record must be told
 *		62    full: no quick store
 *		24-61 count
 *		18-23 length
 *		12-17 start
 *		2-11  owner
 *		0-1   kind
 *   SHARED	2-63  bits of threads 0 to 61
 *		0-1   kind
 *
 * The owner, and a thread with a bit, made these accesses from its home, the
 * first cache that it used. Its accesses from another cache take the lock.
 */
#ifndef COMDET_EXACT_DIRECTORY_INTERNAL_H
#define COMDET_EXACT_DIRECTORY_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "contended.h"
#include "directory.h"
#include "region_table.h"

enum exact_kind {
	EXACT_UNTOUCHED,
	EXACT_OWNED,
	EXACT_SHARED,
	EXACT_LOCKED
};

enum {
	EXACT_KIND_BITS = 2,
	EXACT_OWNER_SHIFT = 2,
	EXACT_START_SHIFT = 12,
	EXACT_LENGTH_SHIFT = 18,
	EXACT_COUNT_SHIFT = 24,
	EXACT_SHARERS = 62 /* threads that have a bit in the state */
};

#define EXACT_KIND_MASK  UINT64_C(3)
#define EXACT_OWNER_MASK UINT64_C(0xfff) /* owner and kind */
#define EXACT_RANGE_MASK UINT64_C(0xfff000)
#define EXACT_ONE_STORE  (UINT64_C(1) << EXACT_COUNT_SHIFT)
#define EXACT_FULL       (UINT64_C(1) << 62)
#define EXACT_TOLD       (UINT64_C(1) << 63)

enum {
	EXACT_BLOCK_VISITS = 4
};

/*
 * What some threads know of a line: those that got it in a transfer or stored
 * to it.
 */
struct exact_visits {
	uint64_t fresh[EXACT_BLOCK_VISITS];  /* bytes that others stored since
						the last useful transfer */
	uint16_t thread[EXACT_BLOCK_VISITS]; /* + 1; 0: free */
	uint16_t from[EXACT_BLOCK_VISITS];   /* of the latest transfer */
	uint32_t next;                       /* block, 0: none */
	uint32_t useless; /* a bit each: the visit is useless so far */
};

/* bits holds three sets: threads that touched, pending threads, holders. */
struct exact_record {
	uint16_t writer;   /* thread of the last store + 1; 0: no store yet */
	uint16_t modified; /* the cache that has the line modified, + 1 */
	uint64_t stored;   /* bytes of the last store, a bit each */
	_Atomic uint64_t transfers, false_sharing, stores, ownership;
	_Atomic uint64_t
		bytes; /* bytes stored before a transfer or touched by one */
	_Atomic uint64_t useless;
	struct contended contended;
	uint64_t ever;        /* bytes that were stored */
	uint32_t visits;      /* first block, 0: none */
	_Atomic uint32_t log; /* + 1; 0: none */
	uint64_t bits[];
};

struct exact_tally {
	_Atomic uint64_t transfers, false_sharing, useless;
};

struct exact {
	uint32_t threads, cores, levels;
	uint32_t line_bytes, line_shift, region_shift;
	uint32_t thread_words, cache_words, record_bytes;
	uint32_t placed; /* there is a topology: threads run on its cores */
	struct exact_tally
		*cell; /* [to][from]: a row is written by one thread */
	uint32_t *domain[TOPOLOGY_LEVELS_MAX];
	uint32_t *core_of;      /* one core of each cache of level 0 */
	_Atomic uint32_t *home; /* home of each thread: a cache + 1, 0: none yet
				 */
	struct region_table table;
	_Atomic uint64_t *state;
	_Atomic uint64_t *stored; /* beside each state */
	unsigned char *records;
	struct exact_visits *visits; /* number 0 is not used */
	struct line_log *log;
	struct line_window *window; /* of the logs */
	uint32_t visits_max, logs_max;
	_Atomic uint32_t visits_used, logs_used;
};

static inline struct exact_record *exact_record(const struct exact *x,
						const _Atomic uint64_t *state)
{
	return (void *)(x->records +
			(size_t)(state - x->state) * x->record_bytes);
}

static inline _Atomic uint64_t *exact_stored(const struct exact *x,
					     const _Atomic uint64_t *state)
{
	return x->stored + (state - x->state);
}

static inline uint64_t exact_stores_of(uint64_t state)
{
	if ((state & EXACT_KIND_MASK) != EXACT_OWNED)
		return 0;
	return (state & ~EXACT_TOLD) >> EXACT_COUNT_SHIFT;
}

static inline uint64_t exact_mask(uint32_t start, uint32_t len)
{
	return (len == 64 ? ~0ull : (1ull << len) - 1) << start;
}

/* Caches of level 0 that have the line. */
static inline uint64_t *exact_holders(const struct exact *x,
				      struct exact_record *r)
{
	return r->bits + 2 * x->thread_words;
}

/*
 * directory_mesi: a load or store through cache @cache, with the line's lock.
 * After a store begins a new epoch.
 */
void exact_mesi_load(const struct exact *x, struct exact_counts *c,
		     struct exact_record *r, uint32_t cache);
void exact_mesi_store(const struct exact *x, struct exact_counts *c,
		      struct exact_record *r, uint32_t cache);

/*
 * directory_visits: which transfers are useless, and the logs. All of these are
 * called with the line's lock.
 */

/* A transfer of the line to thread @id begins a visit, as useless. */
void exact_visit_begin(struct exact *x, struct exact_record *r, uint32_t id);

/*
 * Thread @id touches @bytes. What it learned from others makes its transfer a
 * useful one.
 */
void exact_visit_touch(struct exact *x, struct exact_record *r, uint32_t id,
		       uint64_t bytes);

/* Thread @id stored @bytes: other threads' visits are over. */
void exact_visit_stored(struct exact *x, struct exact_record *r, uint32_t id,
			uint64_t bytes);

/* True while a touch by thread @id may make its transfer a useful one. */
bool exact_visit_open(const struct exact *x, const struct exact_record *r,
		      uint32_t id);

/* The line had a transfer: it may get a log, and a window may open. */
void exact_log_transfer(struct exact *x, struct exact_record *r);

/* The line's log, if a window is open; NULL otherwise. */
struct line_log *exact_log_open(const struct exact *x,
				const struct exact_record *r);

#endif
