/* SPDX-License-Identifier: MIT */
/*
 * ranges - which of many ranges of addresses contains an address
 *
 * Ranges may overlap: the one with the highest rank counts. ranges_flatten()
 * cuts them so that none overlaps another; then a search is binary, whatever a
 * hostile file has put in.
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_RANGES_H
#define COMDET_ANALYSIS_SYMBOLS_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start, end; /* end is not in it */
	uint64_t rank;
	size_t value; /* the caller's */
};

struct ranges {
	struct range *range;
	size_t n, room;
};

/* Add [@start, @end); an empty range is left out. */
void ranges_add(struct ranges *r, uint64_t start, uint64_t end, uint64_t rank,
		size_t value);

/*
 * Call it after the last ranges_add() and before the first ranges_find(). Of
 * ranges with equal ranks, the one with the highest value counts.
 */
void ranges_flatten(struct ranges *r);

/* The range that contains @addr, or NULL. It may be a part of the one added. */
const struct range *ranges_find(const struct ranges *r, uint64_t addr);

void ranges_release(struct ranges *r);

#endif
