/* SPDX-License-Identifier: MIT */
/*
 * call_table - detections of one thread, by the calls that led to both accesses
 */
#ifndef COMDET_STORE_CALL_TABLE_H
#define COMDET_STORE_CALL_TABLE_H

#include "src/engine/comm.h"
#include "store_index.h"

enum {
	CALL_TABLE_MAX = 8192, /* records; later ones are not written */
};

/* A zero-initialized table is empty. */
struct call_table {
	struct store_writer writer;
	struct store_index index;
};

/*
 * Count @d in the record of its threads, paths, line and kind of sharing; a
 * detection without any path is left out. Context: the thread's own handler.
 * Returns 0, or -ENOSPC if there is no room for another record.
 */
int call_table_add(struct store *s, struct call_table *t,
		   const struct detection *d);

/* Free the index; the records stay in the file. Context: any. */
void call_table_release(struct call_table *t);

#endif
