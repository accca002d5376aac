/* SPDX-License-Identifier: MIT */
/*
 * directory_store - write a directory's counts to the file (CDP_TRANSFERS)
 *
 * The directory has few thread numbers, since each line keeps a bit for each. A
 * new thread takes an unused number. If there is none it takes the number of
 * the thread that ended first, on the same core if possible. The directory
 * takes these two threads for one, and counts between threads go to the row of
 * the later one.
 *
 * The caller makes one call about a struct exact_rows at a time. Nothing is
 * allocated.
 */
#ifndef COMDET_STORE_DIRECTORY_STORE_H
#define COMDET_STORE_DIRECTORY_STORE_H

#include "src/exact/directory.h"
#include "store.h"

enum {
	EXACT_ROWS = 128, /* numbers */
	EXACT_ROWS_NONE = -1,
};

struct exact_rows {
	struct store_writer writer;
	uint32_t row[EXACT_ROWS];  /* the latest thread with that number */
	uint32_t core[EXACT_ROWS]; /* core of the first thread with that number
				    */
	uint32_t idle[EXACT_ROWS]; /* unused numbers, in the order in which
				      threads get them */
	uint32_t idles;
	uint32_t used_twice;
};

void exact_rows_init(struct exact_rows *r);

/* A number for the thread with row @id on @core, or EXACT_ROWS_NONE. */
int exact_rows_take(struct exact_rows *r, uint32_t id, uint32_t core);

/* The thread with number @number has ended. */
void exact_rows_give(struct exact_rows *r, uint32_t number);

/*
 * Write the counts of row @id. A later call for the same row replaces its
 * records, as a later exact_store does. If there is no room, count
 * LOSS_STORE_FULL.
 */
void exact_store_thread(struct store *s, struct exact_rows *r, uint32_t id,
			const struct exact_counts *c);

/* Write the cells, some 4000 lines, and the sum of the other lines. */
void exact_store(struct store *s, struct exact_rows *r, const struct exact *x);

#endif
