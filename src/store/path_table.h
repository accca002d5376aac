/* SPDX-License-Identifier: MIT */
/*
 * path_table - call paths of all threads, each kept once
 *
 * A node is a path: an innermost instruction, and the node of the path that led
 * to it. So paths with the same callers share nodes. Nodes are numbered from 1
 * on, each above its parent; 0 is an unknown path. Nodes are records of the
 * section CDP_PATHS and are never removed.
 *
 * path_table_put looks for a node without a lock and takes the lock to add one.
 * The lock is held for some hundreds of instructions, and for a system call
 * when the file grows. If path_table_put does not get the lock, or the table is
 * full, it returns the parent and counts the loss.
 */
#ifndef COMDET_STORE_PATH_TABLE_H
#define COMDET_STORE_PATH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store.h"

/* One call on a path, or the access itself. */
struct path_call {
	uint64_t ip; /* in the instruction */
	bool recurs; /* the function called here has called itself */
};

struct path_table_stats {
	uint32_t nodes;
	uint64_t lost; /* calls that are missing in paths */
};

struct path_table;

/* Bytes of memory for @nodes, 0 if these are none or above CDP_PATHS_MAX. */
size_t path_table_size(uint32_t nodes);

/*
 * Make a table of at most @nodes in @mem: path_table_size() bytes, all zero,
 * aligned to 64. Its records go to @s. Context: set-up.
 */
struct path_table *path_table_init(void *mem, struct store *s, uint32_t nodes);

/*
 * Find or add the node of @call under @parent. For a new node @map_generation
 * is called and its result recorded.
 *
 * Context: handler. Does not allocate. Returns @parent where there is no room.
 */
uint32_t path_table_put(struct path_table *t, uint32_t parent,
			const struct path_call *call,
			uint64_t (*map_generation)(uint64_t ip));

struct path_table_stats path_table_stats(const struct path_table *t);

#endif
