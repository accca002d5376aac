/* SPDX-License-Identifier: MIT */
/*
 * exact_parts - how the exact directory lies in its memory
 *
 * exact_setup.c lays it out, exact.c uses it.
 */
#ifndef COMDET_EXACT_PARTS_H
#define COMDET_EXACT_PARTS_H

#include <stdatomic.h>

#include "exact.h"

/* Sets of numbers below 64 times their words follow each other in bits. */
struct exact_record {
	_Atomic uint32_t lock;
	uint16_t writer;   /* thread + 1, 0: nobody has stored */
	uint16_t modified; /* the cache that holds it so, + 1 */
	uint64_t stored;   /* bytes of the last store, a bit each */
	_Atomic uint64_t transfers, false_sharing, stores, ownership;
	_Atomic uint64_t bits[];
};

struct exact_tally {
	_Atomic uint64_t transfers, false_sharing;
};

struct exact {
	uint32_t threads, cores, levels, regions;
	uint32_t line_bytes, line_shift, region_shift;
	uint32_t thread_words, cache_words, record_bytes;
	struct exact_tally
		*cell; /* [to][from]: a row is written by one thread */
	uint32_t *domain[EXACT_LEVELS_MAX];
	uint32_t *core_of;     /* a core of a cache of level 0 */
	_Atomic uint64_t *key; /* region + 1, 0: free */
	unsigned char *records;
};

#endif
