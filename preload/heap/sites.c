/* SPDX-License-Identifier: MIT */
/*
 * sites - who allocated heap blocks: a number for each caller or path of calls
 *
 * Paths with the same hash are in a list, from the latest to the first. A path
 * is complete before it is in its list, and stays there unchanged.
 */
#include <stdatomic.h>

#include "sites.h"
#include "src/base/signal_safe.h"

enum {
	PROBES_MAX = 32,
	LIST_BITS = 13,
};

/* A number is in one of the two only. Number 0 is not used. */
static _Atomic uint64_t caller_of[SITES];
static _Atomic uint64_t path_of[SITES][HEAP_PATH_MAX]; /* then 0 */

static _Atomic uint32_t used; /* numbers, as far as paths have them */
static _Atomic uint16_t latest[1 << LIST_BITS], before[SITES];

#define GET(what) atomic_load_explicit(&(what), memory_order_relaxed)
#define SET(what, value)                                                       \
	atomic_store_explicit(&(what), value, memory_order_relaxed)

uint32_t sites_caller(uint64_t caller)
{
	uint32_t i =
		(uint32_t)(caller * 0x9E3779B97F4A7C15u >> (64 - SITE_BITS));

	for (int n = 0; n < PROBES_MAX; n++, i++) {
		uint64_t was = 0;

		i &= SITES - 1;
		if (!i)
			continue;
		if (GET(caller_of[i]) == caller)
			return i;
		if (atomic_compare_exchange_strong_explicit(
			    &caller_of[i], &was, caller, memory_order_relaxed,
			    memory_order_relaxed) ||
		    was == caller)
			return i;
	}
	return 0;
}

static _Atomic uint16_t *list_of(const uint64_t *path, unsigned calls)
{
	uint64_t hash = calls;

	for (unsigned i = 0; i < calls; i++) {
		hash = (hash ^ path[i]) * 0x9E3779B97F4A7C15u;
		hash ^= hash >> 29;
	}
	return &latest[hash * 0x9E3779B97F4A7C15u >> (64 - LIST_BITS)];
}

/* The path's number, if it is in the list from @from to before @end. */
static uint16_t search(uint16_t from, uint16_t end, const uint64_t *path,
		       unsigned calls)
{
	for (; from != end; from = GET(before[from])) {
		uint64_t differ = 0;

		for (unsigned i = 0; i < HEAP_PATH_MAX; i++)
			differ |= GET(path_of[from][i]) ^
				  (i < calls ? path[i] : 0);
		if (!differ)
			return from;
	}
	return 0;
}

/* A new number, not in a list yet; 0: there are no more. */
static uint16_t make(const uint64_t *path, unsigned calls)
{
	uint32_t number;

	do {
		if (GET(used) >= SITES - 1)
			return 0;
		number = 1 + atomic_fetch_add_explicit(&used, 1,
						       memory_order_relaxed);
		if (number >= SITES)
			return 0;
	} while (GET(caller_of[number]));
	for (unsigned i = 0; i < calls; i++)
		SET(path_of[number][i], path[i]);
	return (uint16_t)number;
}

uint32_t sites_path(const uint64_t *path, unsigned calls)
{
	_Atomic uint16_t *list = list_of(path, calls);
	uint16_t mine = 0, end = 0, first;

	/* (A) pairs with (B): what is in the list is complete. */
	first = atomic_load_explicit(list, memory_order_acquire);
	for (;;) {
		uint16_t found = search(first, end, path, calls);

		/* Another thread had the same path: the number is lost. */
		if (found)
			return found;
		if (!mine)
			mine = make(path, calls);
		if (!mine)
			return 0;
		SET(before[mine], first);
		end = first;
		/* (B) pairs with (A), of this thread or another. */
		if (atomic_compare_exchange_strong_explicit(
			    list, &first, mine, memory_order_acq_rel,
			    memory_order_acquire))
			return mine;
	}
}

void sites_describe(struct heap_block *block)
{
	block->caller = GET(caller_of[block->site]);
	if (block->caller)
		return;
	while (block->calls < HEAP_PATH_MAX) {
		uint64_t call = GET(path_of[block->site][block->calls]);

		if (!call)
			break;
		block->path[block->calls++] = call;
	}
	block->caller = block->path[0];
}
