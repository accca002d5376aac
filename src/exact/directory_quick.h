/* SPDX-License-Identifier: MIT */
/*
 * directory_quick - the accesses that change nothing but a line's state
 *
 * Nearly all accesses of most programs are to a line that the thread has to
 * itself, or loads of a line that it has loaded since the last store. For these
 * one word tells that no thread gains or loses the line, and one
 * compare-exchange records a store. That word orders the accesses to the line,
 * so only its value at that instant matters.
 */
#ifndef COMDET_EXACT_DIRECTORY_QUICK_H
#define COMDET_EXACT_DIRECTORY_QUICK_H

#include <stdbool.h>

#include "directory_internal.h"

static inline uint32_t exact_seen(uint64_t region)
{
	return (region ^ region / EXACT_SEEN) % EXACT_SEEN;
}

static inline uint64_t exact_store_state(uint64_t state, uint32_t start,
					 uint32_t len)
{
	return ((state & ~EXACT_RANGE_MASK) |
		(uint64_t)start << EXACT_START_SHIFT |
		(uint64_t)(len - 1) << EXACT_LENGTH_SHIFT) +
	       EXACT_ONE_STORE;
}

/*
 * As exact_access, for @len bytes at @addr. Returns false, and does nothing, if
 * the access changes more than the line's state.
 *
 * Context: the thread itself, handler included. Wait-free.
 */
static inline bool exact_quick(const struct exact *x, struct exact_thread *t,
			       uint64_t addr, uint32_t len, bool is_store,
			       uint32_t core)
{
	uint64_t region = addr >> x->region_shift, state;
	uint32_t start = addr & (x->line_bytes - 1), i = exact_seen(region);
	_Atomic uint64_t *at;

	if (t->seen[i].region != region || core != t->home ||
	    len > x->line_bytes - start)
		return false;
	at = t->seen[i].state + (addr >> x->line_shift) % EXACT_REGION_LINES;
	state = atomic_load_explicit(at, memory_order_relaxed);
	if (!is_store) {
		if ((state & EXACT_OWNER_MASK) != t->owned &&
		    (state & t->settled_mask) != t->settled)
			return false;
		t->counts.loads++;
		return true;
	}
	if ((state & (EXACT_OWNER_MASK | EXACT_FULL)) != t->owned ||
	    !atomic_compare_exchange_strong_explicit(
		    at, &state, exact_store_state(state, start, len),
		    memory_order_relaxed, memory_order_relaxed))
		return false;
	t->counts.stores++;
	return true;
}

#endif
