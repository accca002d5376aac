/* SPDX-License-Identifier: MIT */
/*
 * set_turn - misses of one set of L1D, one after the other
 */
#ifndef COMDET_ANALYSIS_MODEL_SET_TURN_H
#define COMDET_ANALYSIS_MODEL_SET_TURN_H

#include <stdint.h>

/*
 * When a miss begins that could begin @now, after which its set is busy for
 * @gap cycles. *@free: when the set is free again; 0 at first.
 */
static inline uint64_t set_turn_take(uint64_t *free, uint64_t now, uint64_t gap)
{
	if (now < *free)
		now = *free;
	if (gap)
		*free = now + gap;
	return now;
}

#endif
