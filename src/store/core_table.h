/* SPDX-License-Identifier: MIT */
/*
 * core_table - detections of one thread by cores, counted in the file
 */
#ifndef COMDET_STORE_CORE_TABLE_H
#define COMDET_STORE_CORE_TABLE_H

#include "src/engine/comm.h"
#include "store_index.h"

/* At most CORE_TABLE_MAX pairs of cores. A zero-initialized table is empty. */
struct core_table {
	struct store_writer writer;
	struct store_index index;
};

enum {
	CORE_TABLE_MAX = 4096
};

/*
 * Count @d in @t. Context: the thread's own handler. Returns 0, or -ENOSPC if
 * the detection was not counted.
 */
int core_table_add(struct store *s, struct core_table *t,
		   const struct detection *d);
void core_table_release(struct core_table *t);

#endif
