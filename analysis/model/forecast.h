/* SPDX-License-Identifier: MIT */
/*
 * forecast - how long instructions take, told without their times
 *
 * A first-order model by intervals (Karkhanis and Smith, ISCA 2004; Eyerman,
 * Eeckhout, Karkhanis and Smith, TOCS 2009) that knows only what functional
 * warming knows too:
 *
 *	a block		its longest chain of dependences, with loads that hit;
 *	a load		what the cache that has its line takes beyond the first;
 *			of loads within one ROB only the longest counts, as they
 *			overlap;
 *	a branch	the refill of the pipeline, if it is mispredicted.
 *
 * So a piece of code has the same forecast in detail and between units. It need
 * not be right: a sampled simulation takes what is alike in forecast and time.
 */
#ifndef COMDET_ANALYSIS_MODEL_FORECAST_H
#define COMDET_ANALYSIS_MODEL_FORECAST_H

#include "machine.h"
#include "trace.h"

/* Of one core. */
struct forecast {
	uint64_t at;      /* micro-operations so far */
	uint64_t end;     /* those before it overlap with the latest miss */
	uint64_t longest; /* cycles, of the misses that overlap */
	uint64_t waits; /* cycles for misses and branches since the last take */
};

/* A load, @ahead micro-operations from here, takes @cycles beyond a hit. */
static inline void forecast_load(struct forecast *f, uint32_t ahead,
				 uint32_t rob, uint64_t cycles)
{
	if (!cycles)
		return;
	if (f->at + ahead >= f->end) {
		f->end = f->at + ahead + rob;
		f->longest = 0;
	}
	if (cycles > f->longest) {
		f->waits += cycles - f->longest;
		f->longest = cycles;
	}
}

/* The cycles of misses and branches since it was asked last. */
static inline uint64_t forecast_take(struct forecast *f)
{
	uint64_t waits = f->waits;

	f->waits = 0;
	return waits;
}

/* The longest chain of dependences in @n instructions, in cycles. */
uint32_t forecast_chain(const struct machine *m, const struct trace_insn *insn,
			uint32_t n);

#endif
