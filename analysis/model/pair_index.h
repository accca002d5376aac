/* SPDX-License-Identifier: MIT */
/*
 * pair_index - numbers for pairs of numbers, in the order of their first use
 *
 * The caller keeps what belongs to a pair in an array at its number.
 */
#ifndef COMDET_ANALYSIS_MODEL_PAIR_INDEX_H
#define COMDET_ANALYSIS_MODEL_PAIR_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair_key {
	uint64_t a, b;
};

struct pair_index {
	struct pair_key *key; /* by number */
	uint32_t *slot;       /* number + 1; 0: empty */
	size_t pairs, room, slots;
};

/* All zero is an index without pairs. */
void pair_index_release(struct pair_index *p);

/* The number of (@a, @b), which is new if it equals p->pairs before. */
uint32_t pair_index_of(struct pair_index *p, uint64_t a, uint64_t b);

/* The same in @number if it is there; else false. */
bool pair_index_find(const struct pair_index *p, uint64_t a, uint64_t b,
		     uint32_t *number);

#endif
