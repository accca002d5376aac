/* SPDX-License-Identifier: MIT */
/*
 * forecast - how long instructions take, told without their times
 */
#include "forecast.h"

/* From its operands to its result, if it is a load that hits. */
static uint32_t uop_cycles(const struct machine *m, const struct uop *u)
{
	uint32_t cycles = m->uop[u->class].latency;

	if (u->flags & UOP_IS_LOAD) {
		cycles += m->l1d.latency;
		if (u->flags & UOP_IS_VECTOR)
			cycles += m->vector_load_extra;
	}
	return cycles;
}

/* The cycle of its result; @ready has those of the results before it. */
static uint32_t result_at(const struct machine *m, const struct uop *u,
			  const uint32_t ready[UOP_REGISTERS])
{
	uint32_t t = 0;

	if (u->flags & UOP_IS_ZERO && m->zero_idioms)
		return 0;
	for (int i = 0; i < u->sources; i++)
		if (ready[u->source[i]] > t)
			t = ready[u->source[i]];
	return t + uop_cycles(m, u);
}

uint32_t forecast_chain(const struct machine *m, const struct trace_insn *insn,
			uint32_t n)
{
	uint32_t ready[UOP_REGISTERS] = { 0 }, longest = 0;

	for (uint32_t i = 0; i < n; i++)
		for (int k = 0; k < insn[i].decoded.uops; k++) {
			const struct uop *u = &insn[i].decoded.uop[k];
			uint32_t t = result_at(m, u, ready);

			for (int r = 0; r < u->results; r++)
				ready[u->result[r]] = t;
			if (t > longest)
				longest = t;
		}
	return longest;
}
