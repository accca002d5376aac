/* SPDX-License-Identifier: MIT */
/*
 * pair_table - detections of one thread, counted in the file
 */
#ifndef COMDET_STORE_PAIR_TABLE_H
#define COMDET_STORE_PAIR_TABLE_H

#include <stdint.h>

#include "src/engine/comm.h"
#include "store_index.h"

/*
 * Detections that agree in everything but their time and map generation share a
 * record. A zero-initialized table is empty.
 */
struct pair_table {
	struct store_writer writer;
	struct store_index index;
	uint32_t rests; /* records that are rests */
	uint32_t looks; /* records of DETECTED_BY_LOOK */
};

enum {
	PAIR_TABLE_MAX = 8192,
	PAIR_TABLE_RESTS_MAX = 2048,
	PAIR_TABLE_LOOKS_MAX = 512
};

/*
 * Count @d in @t. @now is CLOCK_MONOTONIC ns.
 *
 * A detection that agrees with a record is always counted there. Any other
 * opens a record of its own while there are fewer than PAIR_TABLE_MAX such
 * records and index memory and the file have room. Otherwise it is counted in
 * the rest: the one record with its threads, sharing and by and all else 0.
 * There are at most PAIR_TABLE_RESTS_MAX rests, enough for 512 publishers; a
 * detection without a rest is not counted. Sightings (DETECTED_BY_LOOK) have at
 * most PAIR_TABLE_LOOKS_MAX records, and no rest.
 *
 * Context: the thread's own handler. Index memory comes from raw mmap.
 * Returns 0, or -ENOSPC if the detection was not counted.
 */
int pair_table_add(struct store *s, struct pair_table *t,
		   const struct detection *d, uint64_t now,
		   uint64_t map_generation);
/* Free the index; the records stay in the file. Context: any. */
void pair_table_release(struct pair_table *t);

#endif
