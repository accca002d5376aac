/* SPDX-License-Identifier: MIT */
/*
 * directory_internal - how the exact directory lies in its memory
 *
 * directory_setup.c lays it out, directory.c uses it, directory_lines.c reads
 *it.
 *
 * A line has a word of state and a record. As long as one thread has the line
 * to itself the state says all, and the record may never have been touched.
 *
 *   0		nobody has accessed the line
 *   OWNED	thread @owner, and no other, has touched it since the last
 *		store, if there was one; it made that store and all @count
 *		since the record was written; the last of them has @length + 1
 *		bytes from @start on. With count 0 there has been no store.
 *   SHARED	all is in the record; further loads by the threads whose bits
 *		are set change nothing
 *   LOCKED	a thread is at the record
 *
 *   OWNED	63    full: no quick store
 *		24-62 count
 *		18-23 length
 *		12-17 start
 *		2-11  owner
 *		0-1   kind
 *   SHARED	2-63  bits of threads 0 to 61
 *		0-1   kind
 *
 * The owner, and a thread with a bit, made these accesses from the cache that
 * was its first, its home. It counts as another's access if it is elsewhere.
 */
#ifndef COMDET_EXACT_DIRECTORY_INTERNAL_H
#define COMDET_EXACT_DIRECTORY_INTERNAL_H

#include <stdatomic.h>

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
	EXACT_SHARERS = 62 /* threads that have a bit */
};

#define EXACT_KIND_MASK  UINT64_C(3)
#define EXACT_OWNER_MASK UINT64_C(0xfff) /* and kind */
#define EXACT_RANGE_MASK UINT64_C(0xfff000)
#define EXACT_ONE_STORE  (UINT64_C(1) << EXACT_COUNT_SHIFT)
#define EXACT_FULL       (UINT64_C(1) << 63)

/* Sets of numbers below 64 times their words follow each other in bits. */
struct exact_record {
	uint16_t writer;   /* thread + 1, 0: nobody has stored */
	uint16_t modified; /* the cache that holds it so, + 1 */
	uint64_t stored;   /* bytes of the last store, a bit each */
	_Atomic uint64_t transfers, false_sharing, stores, ownership;
	_Atomic uint64_t bytes; /* on either side of its transfers */
	uint64_t bits[];
};

struct exact_tally {
	_Atomic uint64_t transfers, false_sharing;
};

struct exact {
	uint32_t threads, cores, levels;
	uint32_t line_bytes, line_shift, region_shift;
	uint32_t thread_words, cache_words, record_bytes;
	uint32_t placed; /* threads are on the cores of a topology */
	struct exact_tally
		*cell; /* [to][from]: a row is written by one thread */
	uint32_t *domain[TOPOLOGY_LEVELS_MAX];
	uint32_t *core_of;      /* a core of a cache of level 0 */
	_Atomic uint32_t *home; /* of a thread: a cache + 1, 0: none yet */
	struct region_table table;
	_Atomic uint64_t *state;
	unsigned char *records;
};

static inline struct exact_record *exact_record(const struct exact *x,
						const _Atomic uint64_t *state)
{
	return (void *)(x->records +
			(size_t)(state - x->state) * x->record_bytes);
}

static inline uint64_t exact_stores_of(uint64_t state)
{
	if ((state & EXACT_KIND_MASK) != EXACT_OWNED)
		return 0;
	return state >> EXACT_COUNT_SHIFT;
}

#endif
