/* SPDX-License-Identifier: MIT */
/*
 * simulate_result - what a simulation gives
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate.h"
#include "analysis/base/util.h"

/*
 * Threads that hand a line around for so much of their time do it in an order
 * that lasts, and that functional warming does not keep.
 */
#define CONTENDED 0.25

/* The mnemonics are static, so a pointer stands for one. */
void simulated_count_unknown(struct simulated *s, const char *mnemonic)
{
	size_t i = 0;

	while (i < s->unknowns && s->unknown[i].mnemonic != mnemonic)
		i++;
	if (i == s->unknowns) {
		s->unknown = grow(s->unknown, s->unknowns, &s->unknown_room,
				  sizeof(*s->unknown));
		s->unknown[s->unknowns++] =
			(struct simulated_unknown){ .mnemonic = mnemonic };
	}
	s->unknown[i].count++;
}

static int by_count(const void *x, const void *y)
{
	const struct simulated_unknown *a = x, *b = y;

	return a->count != b->count ? order_u64(b->count, a->count)
				    : strcmp(a->mnemonic, b->mnemonic);
}

void simulated_sort_unknown(struct simulated *s)
{
	if (s->unknowns)
		qsort(s->unknown, s->unknowns, sizeof(*s->unknown), by_count);
}

void simulated_estimate_thread(struct simulated_thread *t,
			       const struct unit_sampler *from, size_t i)
{
	t->sampled = unit_sampler_time(from, i);
	t->start = (uint64_t)unit_sampler_start_of(from, i);
	t->cycles = (uint64_t)(t->sampled.cycles + 0.5);
	unit_sampler_stack(from, i, (double)t->cycles, &t->stack);
}

/* The share of the threads' time in which they wait for each other's lines. */
static double coherence_share(const struct simulated *s)
{
	double coherence = 0, all = 0;

	for (size_t i = 0; i < s->threads; i++) {
		coherence += s->thread[i].stack.cycles[CPI_COHERENCE];
		all += (double)s->thread[i].cycles;
	}
	return all > 0 ? coherence / all : 0;
}

/*
 * How lines go from thread to thread depends on an order that lasts, and that
 * units do not restore. So all of that time is in doubt.
 */
static double coherence_doubt(struct simulated *s)
{
	double share = coherence_share(s);

	s->sampled.contended = share > CONTENDED;
	return s->sampled.contended ? INFINITY : share;
}

/* That share of all times is in doubt. */
static void add_doubt(struct simulated *s, double share)
{
	s->sampled.cycles.error += share * s->sampled.cycles.cycles;
	for (size_t i = 0; i < s->threads; i++)
		if (s->thread[i].sampled.units)
			s->thread[i].sampled.error +=
				share * s->thread[i].sampled.cycles;
}

void simulated_estimate(struct simulated *s, const struct unit_sampler *from,
			const struct sampling_wish *wish, double order)
{
	const struct sampling *how = &from->sampling;

	s->sampled = (struct simulated_sampling){
		.seed = wish->seed,
		.unit = how->unit,
		.warm = how->warm,
		.distance = how->distance,
		.head = how->head,
		.order = order,
		.cycles = unit_sampler_all(from),
	};
	s->cycles = (uint64_t)(s->sampled.cycles.cycles + 0.5);
	add_doubt(s, order + coherence_doubt(s));
}

void simulated_release(struct simulated *s)
{
	free(s->thread);
	free(s->core);
	free(s->unknown);
	misses_free(s->misses);
	memset(s, 0, sizeof(*s));
}
