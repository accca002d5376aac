/* SPDX-License-Identifier: MIT */
/*
 * directory_internal - the memory layout of the exact directory
 *
 * directory_setup.c lays it out, directory.c uses it, directory_lines.c reads
 * it.
 *
 * A line has a word of state and a record. While one thread has the line to
 * itself, the state says everything, and the record may never have been
 *touched.
 *
 *   0		no thread has accessed the line
 *   OWNED	only thread @owner has touched the line since its last store,
 *		if there was one. The owner made that store and all @count
 *		stores since the record was written; the last of them stored
 *		@length + 1 bytes from @start on. With count 0 there was none.
 *   SHARED	the record says everything; further loads by the threads whose
 *		bits are set change nothing
 *   LOCKED	a thread is changing the record
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
 * The owner, and a thread with a bit, made these accesses from its home, the
 * first cache that it used. Its accesses from another cache take the lock.
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
	EXACT_SHARERS = 62 /* threads that have a bit in the state */
};

#define EXACT_KIND_MASK  UINT64_C(3)
#define EXACT_OWNER_MASK UINT64_C(0xfff) /* owner and kind */
#define EXACT_RANGE_MASK UINT64_C(0xfff000)
#define EXACT_ONE_STORE  (UINT64_C(1) << EXACT_COUNT_SHIFT)
#define EXACT_FULL       (UINT64_C(1) << 63)

/* bits holds three sets: threads that touched, pending threads, holders. */
struct exact_record {
	uint16_t writer;   /* thread of the last store + 1; 0: no store yet */
	uint16_t modified; /* the cache that has the line modified, + 1 */
	uint64_t stored;   /* bytes of the last store, a bit each */
	_Atomic uint64_t transfers, false_sharing, stores, ownership;
	_Atomic uint64_t bytes; /* bytes stored before a transfer or touched by
				   one */
	uint64_t bits[];
};

struct exact_tally {
	_Atomic uint64_t transfers, false_sharing;
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
