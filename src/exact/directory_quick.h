/* SPDX-License-Identifier: MIT */
/*
 * directory_quick - the accesses that change nothing but a line's state
 *
 * Nearly all accesses of most programs are to a line that the thread has to
 * itself, or loads of a line that it has loaded since the last store. For these
 * one word tells that no thread gains or loses the line, and one
 * compare-exchange records a store. That word orders the accesses to the line,
 * so only its value at that instant matters.
 *
 * A store must be to bytes that the owner has stored before. They are in the
 * word beside, which changes only while the state is LOCKED:
 *
 *   unlock				exact_quick
 *     bytes stored, relaxed
 *     new state, release	(A)	state, acquire	(E)
 *					bytes stored, relaxed
 *					state again, relaxed
 *
 * (E) pairs with (A). If the state is the same again, nobody has locked the
 *line in between: the state counts stores, and only this thread could make it
 *own the line again.
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

/* True if the owner has stored @bytes of the line with the state at @at. */
static inline bool exact_has_stored(const struct exact *x,
				    const _Atomic uint64_t *at, uint64_t bytes)
{
	return !(bytes & ~atomic_load_explicit(exact_stored(x, at),
					       memory_order_relaxed));
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
	state = atomic_load_explicit(at, memory_order_acquire); /* (E) */
	if (!is_store) {
		if ((state & t->settled_mask) != t->settled &&
		    (state & EXACT_OWNER_MASK) != t->owned)
			return false;
		if ((state & (EXACT_KIND_MASK | EXACT_TOLD)) ==
			    (EXACT_OWNED | EXACT_TOLD) &&
		    (!exact_has_stored(x, at, exact_mask(start, len)) ||
		     atomic_load_explicit(at, memory_order_relaxed) != state))
			return false;
		t->counts.loads++;
		return true;
	}
	if ((state & (EXACT_OWNER_MASK | EXACT_FULL)) != t->owned ||
	    !exact_has_stored(x, at, exact_mask(start, len)) ||
	    !atomic_compare_exchange_strong_explicit(
		    at, &state, exact_store_state(state, start, len),
		    memory_order_relaxed, memory_order_relaxed))
		return false;
	t->counts.stores++;
	return true;
}

#endif
