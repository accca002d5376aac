/* SPDX-License-Identifier: MIT */
/*
 * cpi_stack - where the cycles of a thread went
 */
#include "cpi_stack.h"

const char *const cpi_names[CPI_COMPONENTS] = {
#define X(NAME, name) [CPI_##NAME] = #name,
	CPI_LIST(X)
#undef X
};

static const enum cpi_component of_level[LEVELS] = {
	[LEVEL_L1] = CPI_DEPENDENCE, [LEVEL_L2] = CPI_L2,
	[LEVEL_LLC] = CPI_LLC,       [LEVEL_CORE] = CPI_COHERENCE,
	[LEVEL_MEMORY] = CPI_DRAM,
};

/* Charge at most @cycles of what is left. */
static void take(struct cpi_stack *s, enum cpi_component to, double *left,
		 double cycles)
{
	double n = *left < cycles ? *left : cycles;

	if (n <= 0)
		return;
	s->cycles[to] += n;
	*left -= n;
}

void cpi_stack_charge(struct cpi_stack *s, const struct cpi_life *life,
		      uint64_t gap)
{
	double left = (double)gap;
	uint64_t waited = life->issue - life->ready;
	uint64_t unit = life->unit < waited ? life->unit : waited;

	take(s, CPI_BASE, &left, s->slots);
	s->slots = 0;
	take(s, CPI_BUS, &left, (double)life->bus);
	take(s, of_level[life->level], &left,
	     (double)(life->beyond - life->bus));
	if (life->done > life->issue + life->beyond + 1)
		take(s, CPI_DEPENDENCE, &left,
		     (double)(life->done - life->issue - life->beyond - 1));
	take(s, CPI_UNIT, &left, (double)unit);
	take(s, CPI_PORT, &left, (double)(waited - unit));
	take(s, CPI_DEPENDENCE, &left,
	     (double)(life->ready - life->dispatch - 1));
	take(s, life->front, &left, (double)(life->dispatch - life->before));
	s->cycles[CPI_BASE] += left;
}
