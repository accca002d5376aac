/* SPDX-License-Identifier: MIT */
/*
 * directory_store - what a directory counted, into the file (CDP_TRANSFERS)
 *
 * The directory's thread numbers are few, since each line keeps a bit for
 * every one of them. A thread takes a number that nobody has had, then the one
 * whose thread ended first, if possible on the same core; those two are one to
 * the directory, and what it counted between threads goes to the row of the
 * later one.
 *
 * Calls about one struct exact_rows are one at a time. Nothing is allocated.
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
	uint32_t core[EXACT_ROWS]; /* of the first */
	uint32_t idle[EXACT_ROWS]; /* numbers in the order to be used */
	uint32_t idles;
	uint32_t used_twice;
};

void exact_rows_init(struct exact_rows *r);

/* A number for the thread with row @id on @core, or EXACT_ROWS_NONE. */
int exact_rows_take(struct exact_rows *r, uint32_t id, uint32_t core);

/* The thread with number @number has ended. */
void exact_rows_give(struct exact_rows *r, uint32_t number);

/*
 * Write what row @id counted. Later calls for the same row replace what
 * earlier ones have written; the same holds for exact_store. What finds no
 * room is counted as LOSS_STORE_FULL.
 */
void exact_store_thread(struct store *s, struct exact_rows *r, uint32_t id,
			const struct exact_counts *c);

/* Write cells and lines: some 4000 of these, the others added up. */
void exact_store(struct store *s, struct exact_rows *r, const struct exact *x);

#endif
