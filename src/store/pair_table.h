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
 * Detections of one thread, aggregated by everything but their time and map
 * generation. Zero-initialized, it is empty.
 */
struct pair_table {
	struct store_writer writer;
	struct store_index index;
	uint32_t rests; /* records in it that are rests */
};

enum {
	PAIR_TABLE_MAX = 8192,
	PAIR_TABLE_RESTS_MAX = 2048
};

/*
 * Count @d in @t. @now is CLOCK_MONOTONIC ns.
 *
 * A detection that agrees with a record is counted there, always. Another
 * one opens a record of its own while the table has fewer than
 * PAIR_TABLE_MAX of these and while index memory and the file have room.
 * Else it goes to the rest: the one record with its threads, sharing and by
 * and all else 0. There are at most PAIR_TABLE_RESTS_MAX rests, which is 512
 * publishers; what finds no rest either is not tallied.
 *
 * Context: the thread's own handler. Index memory comes from raw mmap.
 * Returns 0, or -ENOSPC if nothing could be tallied.
 */
int pair_table_add(struct store *s, struct pair_table *t,
		   const struct detection *d, uint64_t now,
		   uint64_t map_generation);
/* Give the index back; the records stay. Context: any. */
void pair_table_release(struct pair_table *t);

#endif
