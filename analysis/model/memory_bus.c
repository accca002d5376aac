/* SPDX-License-Identifier: MIT */
/*
 * memory_bus - which lines memory transfers when
 */
#include "memory_bus.h"
#include "analysis/base/util.h"

enum {
	MARK_SHIFT = 40, /* log2 of more slots than a run has */
};

struct memory_bus *memory_bus_new(double slot)
{
	struct memory_bus *b = xcalloc(1, sizeof(*b));

	b->slot = slot;
	b->mark = 1;
	return b;
}

void memory_bus_restart(struct memory_bus *b, double slot)
{
	b->slot = slot;
	b->mark += UINT64_C(1) << MARK_SHIFT;
}

uint64_t memory_bus_take(struct memory_bus *b, uint64_t t)
{
	uint64_t slot = (uint64_t)((double)t / b->slot), start;

	while (b->taken[slot % MEMORY_BUS_SLOTS] == slot + b->mark)
		slot++;
	b->taken[slot % MEMORY_BUS_SLOTS] = slot + b->mark;
	b->transfers++;
	start = (uint64_t)((double)slot * b->slot);
	return start > t ? start - t : 0;
}
