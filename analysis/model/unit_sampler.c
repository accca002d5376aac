/* SPDX-License-Identifier: MIT */
/*
 * unit_sampler - a sampled simulation: what its threads do between the units,
 * and what the units say of each thread
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit_sampler.h"
#include "analysis/base/util.h"

/* An earlier unit counts so much less in the clock than the one behind it. */
#define FADING 0.5

enum {
	LATEST = 16 /* times that count in the cycles of a block */
};

int unit_sampler_init(struct unit_sampler *s, uint64_t instructions,
		      size_t threads, size_t blocks, uint32_t cores,
		      const struct sampling_wish *wish,
		      char error[SAMPLING_ERROR_BYTES])
{
	memset(s, 0, sizeof(*s));
	s->cpi = 1;
	s->threads = threads;
	s->thread = xcalloc(threads, sizeof(*s->thread));
	s->block = xcalloc(blocks + 1, sizeof(*s->block));
	s->forecast = xcalloc(cores, sizeof(*s->forecast));
	return sampling_init(&s->sampling, instructions, cores, wish, error);
}

void unit_sampler_release(struct unit_sampler *s)
{
	free(s->thread);
	free(s->block);
	free(s->forecast);
	s->thread = NULL;
	s->block = NULL;
	s->forecast = NULL;
	sampling_release(&s->sampling);
}

void unit_sampler_start(struct unit_sampler *s, size_t i,
			const struct core_account *account, double time)
{
	struct unit_sampler_thread *t = &s->thread[i];

	t->account = account;
	t->start = s->executed;
	t->since = time;
	t->fetched = s->fetches.cycles;
	t->before = *account;
	t->began = true;
}

void unit_sampler_end(struct unit_sampler *s, size_t i, double time)
{
	s->thread[i].end = s->executed;
	s->thread[i].until = time;
	s->thread[i].all = s->fetches.cycles;
	s->thread[i].over = true;
}

static void end_head(struct unit_sampler *s)
{
	for (size_t i = 0; i < s->threads; i++)
		if (s->thread[i].began)
			s->thread[i].head = *s->thread[i].account;
}

static void begin_unit(struct unit_sampler *s, double time)
{
	s->begun = time;
	for (size_t i = 0; i < s->threads; i++)
		if (s->thread[i].began)
			s->thread[i].before = *s->thread[i].account;
}

/* What the thread did in the unit that began at @begun. */
static void end_unit_of(struct unit_sampler_thread *t, double begun,
			double time)
{
	const struct core_account *now = t->account;
	double cycles = 0, ran;
	double fetching = now->fetching - t->before.fetching;

	for (int k = 0; k < CPI_COMPONENTS; k++) {
		double more = now->stack.cycles[k] - t->before.stack.cycles[k];

		if (k == CPI_SYNC)
			continue;
		t->stack[k] += more;
		cycles += more;
	}
	t->stack[CPI_ICACHE] -= fetching;
	t->there += time - fmax(begun, t->since) - fetching;
	ran = (double)(now->counts.instructions -
		       t->before.counts.instructions);
	if (ran <= 0)
		return;
	t->cycles = t->cycles * FADING + cycles;
	t->instructions = t->instructions * FADING + ran;
	t->cpi = t->cycles / t->instructions;
}

static void end_unit(struct unit_sampler *s, double time)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < s->threads; i++) {
		struct unit_sampler_thread *t = &s->thread[i];

		if (t->began && !t->over)
			end_unit_of(t, s->begun, time);
		sum += t->cycles;
		n += t->instructions;
	}
	if (n > 0)
		s->cpi = sum / n;
}

void unit_sampler_turn(struct unit_sampler *s, double time)
{
	while (unit_sampler_is_turn(s)) {
		if (s->sampling.phase == SAMPLING_HEAD)
			end_head(s);
		if (s->sampling.phase == SAMPLING_READY)
			begin_unit(s, time);
		if (s->sampling.phase == SAMPLING_MEASURE)
			end_unit(s, time);
		sampling_turn(&s->sampling, time - s->fetches.cycles);
	}
}

void unit_sampler_learn(struct unit_sampler *s, size_t block, uint32_t n,
			uint64_t cycles)
{
	struct unit_sampler_block *b = &s->block[block];

	if (b->times < LATEST)
		b->times++;
	b->cpi += ((float)cycles / (float)n - b->cpi) / (float)b->times;
}

uint64_t unit_sampler_pass(struct unit_sampler *s, size_t i, size_t block,
			   uint32_t n, uint64_t now)
{
	const struct unit_sampler_block *b = &s->block[block];
	struct unit_sampler_thread *t = &s->thread[i];

	if (t->clock < (double)now)
		t->clock = (double)now;
	t->clock += n * (b->times     ? (double)b->cpi
			 : t->cpi > 0 ? t->cpi
				      : s->cpi);
	s->executed += n;
	return (uint64_t)t->clock;
}

void unit_sampler_foresee(struct unit_sampler *s, const struct machine *m,
			  uint32_t core, const struct trace *trace,
			  const struct trace_block *b, uint32_t n)
{
	float *chain = &s->block[b - trace->block].chain;

	/* One more, so that 0 stands for a block that was not met yet. */
	if (*chain <= 0)
		*chain = (float)(1 + forecast_chain(m, &trace->insn[b->first],
						    b->insns)) /
			 (float)b->insns;
	/*
	 * Between units threads wait when the clock there says so, not as in
	 * detail. So this is the work of all threads, and not the program's
	 * time.
	 */
	sampling_foresee(&s->sampling, s->executed,
			 n * (double)*chain +
				 (double)forecast_take(&s->forecast[core]));
}

/* The time before instruction @at, when fetches were @fetched. */
static double time_before(const struct unit_sampler *s, uint64_t at,
			  double fetched)
{
	const struct sampling *all = &s->sampling;

	return all->head_cycles + sampling_time(all, all->head, at).cycles +
	       fetched;
}

double unit_sampler_start_of(const struct unit_sampler *s, size_t i)
{
	const struct unit_sampler_thread *t = &s->thread[i];

	return t->start < s->sampling.head
		       ? t->since
		       : time_before(s, t->start, t->fetched);
}

struct sampling_estimate unit_sampler_time(const struct unit_sampler *s,
					   size_t i)
{
	const struct unit_sampler_thread *t = &s->thread[i];
	struct sampling_estimate e =
		sampling_time(&s->sampling, t->start, t->end);

	if (t->end < s->sampling.head)
		return (struct sampling_estimate){ t->until - t->since, 0, 0 };
	e.cycles = time_before(s, t->end, t->all) - unit_sampler_start_of(s, i);
	return e;
}

struct sampling_estimate unit_sampler_all(const struct unit_sampler *s)
{
	struct sampling_estimate e =
		sampling_time(&s->sampling, s->sampling.head, s->executed);

	e.cycles = time_before(s, s->executed, s->fetches.cycles);
	return e;
}

void unit_sampler_stack(const struct unit_sampler *s, size_t i, double cycles,
			struct cpi_stack *to)
{
	const struct unit_sampler_thread *t = &s->thread[i];
	double ran = 0, all;

	*to = t->head.stack;
	to->cycles[CPI_ICACHE] += t->account->fetching - t->head.fetching;
	for (int k = 0; k < CPI_COMPONENTS; k++) {
		ran += fmax(t->stack[k], 0);
		cycles -= to->cycles[k];
	}
	/* Without waiting, all that it was there it ran: commits lag behind. */
	all = t->account->stack.cycles[CPI_SYNC] > 0 ? fmax(ran, t->there)
						     : ran;
	for (int k = 0; k < CPI_COMPONENTS && all > 0; k++)
		to->cycles[k] += fmax(t->stack[k], 0) / all * cycles;
	to->cycles[CPI_SYNC] += all > 0 ? cycles * (1 - ran / all) : cycles;
}
