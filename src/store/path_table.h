/* SPDX-License-Identifier: MIT */
/*
 * path_table - call paths of all threads, each kept once
 *
 * A path is a node: its innermost instruction, and the node of the rest. So
 * paths that begin alike share their outer nodes. A node is a number from 1 on,
 * above that of its parent; 0 is the path of which nothing is known. Nodes are
 * never removed, and are records of the section CDP_PATHS.
 *
 * path_table_put looks for a node without a lock, beside any others, and takes
 * the lock to add one. It is held for some hundreds of instructions, and a
 * system call where the file grows. Who does not get it, or finds the table
 * full, goes on with the parent, and that is counted.
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
	bool recurs; /* what is called has called itself again */
};

struct path_table_stats {
	uint32_t nodes;
	uint64_t lost; /* calls that are missing on a path */
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
 * The node of @call under @parent. @map_generation is recorded if it is new.
 *
 * Context: handler. Does not allocate. Returns @parent where there is no room.
 */
uint32_t path_table_put(struct path_table *t, uint32_t parent,
			const struct path_call *call,
			uint64_t (*map_generation)(uint64_t ip));

struct path_table_stats path_table_stats(const struct path_table *t);

#endif
