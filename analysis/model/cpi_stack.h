/* SPDX-License-Identifier: MIT */
/*
 * cpi_stack - where the cycles of a thread went
 *
 * Micro-operations commit in order. The cycles between two commits are those
 * that the second one made all others wait. They are charged to what it was
 * doing then, going back from its end: its access of memory or its operation,
 * the wait for a port or the divider, the wait for its operands, and what kept
 * it from being dispatched. First comes the share that the width of the core
 * needs anyway. So the components of a thread add up to its cycles.
 */
#ifndef COMDET_ANALYSIS_MODEL_CPI_STACK_H
#define COMDET_ANALYSIS_MODEL_CPI_STACK_H

#include <stdint.h>

#include "caches.h"

#define CPI_LIST(X)                                                            \
	X(BASE, base)                                                          \
	X(DEPENDENCE, dependence)                                              \
	X(UNIT, unit)                                                          \
	X(PORT, port)                                                          \
	X(BRANCH, branch)                                                      \
	X(ICACHE, icache)                                                      \
	X(L2, l2)                                                              \
	X(LLC, llc)                                                            \
	X(DRAM, dram)                                                          \
	X(COHERENCE, coherence)                                                \
	X(BUS, bus)                                                            \
	X(SYNC, sync)

enum cpi_component {
#define X(NAME, name) CPI_##NAME,
	CPI_LIST(X)
#undef X
	CPI_COMPONENTS
};
extern const char *const cpi_names[CPI_COMPONENTS];

/* The life of a micro-operation, in cycles. */
struct cpi_life {
	uint64_t before; /* dispatch of the one before it */
	uint64_t dispatch, ready, issue, done;
	uint64_t unit;   /* of the wait for issue: for the divider */
	uint64_t beyond; /* of the time to done: beyond the first cache */
	uint64_t bus;    /* of that: waiting for the memory bus */
	enum caches_level level;  /* of a load */
	enum cpi_component front; /* why dispatch was late, if it was */
};

/* Nothing is left to do once it is dispatched: its result is there. */
static inline void cpi_life_zero(struct cpi_life *life)
{
	life->ready = life->issue = life->dispatch + 1;
	life->done = life->dispatch;
}

struct cpi_stack {
	double cycles[CPI_COMPONENTS];
	double slots; /* cycles that the width needs, since the last commit */
};

/* Charge the @gap cycles by which the commit of @life is later. */
void cpi_stack_charge(struct cpi_stack *s, const struct cpi_life *life,
		      uint64_t gap);

#endif
