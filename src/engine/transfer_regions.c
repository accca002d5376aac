/* SPDX-License-Identifier: MIT */
/*
 * transfer_regions - in which parts of memory several threads were sampled
 *
 * A region has about as many lines as a period has accesses. So a thread that
 * uses its lines, each of them a few times, has samples there.
 *
 * A table of words: the number of the region, and the thread that was sampled
 * there or SEVERAL. Regions that meet in a word count as shared. Of two threads
 * that change a word at once, one may lose: the next sample makes up for it.
 */
#include "transfer_internal.h"
#include "src/base/signal_safe.h"

enum {
	THREAD_BITS = 11,
	SEVERAL = (1 << THREAD_BITS) - 1,
	SHIFT_MAX = 30,
};
_Static_assert((int)TRANSFER_THREADS_MAX < (int)SEVERAL,
	       "a word has room for a thread's number + 1");

void transfer_regions_init(struct transfer *e)
{
	double bytes = e->config.line_bytes * e->config.period;

	while (e->region_shift < SHIFT_MAX &&
	       (double)(1u << e->region_shift) < bytes)
		e->region_shift++;
}

static uint64_t index_of(uint64_t region)
{
	return region * 0x9e3779b97f4a7c15u >> 40 & (TRANSFER_REGIONS - 1);
}

void transfer_regions_learn(struct transfer *e, uint32_t thread, uint64_t addr)
{
	uint64_t region = addr >> e->region_shift;
	_Atomic uint64_t *word = &e->region[index_of(region)];
	uint64_t mine = region << THREAD_BITS | (thread + 1);
	uint64_t old = atomic_load_explicit(word, memory_order_relaxed);

	if (old == mine)
		return;
	atomic_store_explicit(word, old ? old | SEVERAL : mine,
			      memory_order_relaxed);
}

bool transfer_regions_shared(const struct transfer *e, uint64_t addr)
{
	uint64_t word = atomic_load_explicit(
		&e->region[index_of(addr >> e->region_shift)],
		memory_order_relaxed);

	return (word & SEVERAL) == SEVERAL;
}
