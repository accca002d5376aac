/* SPDX-License-Identifier: MIT */
/*
 * predict_replay - threads whose speed is known wait for each other
 */
#include <math.h>
#include <stdlib.h>

#include "predict_replay.h"
#include "analysis/base/util.h"
#include "analysis/model/sync_replay.h"
#include "src/base/rng.h"

/* If calls that take other times change the total by less, it is steady. */
#define STEADY 0.01

enum {
	NOISY = 4, /* replays of which the mean is taken */
};

/* A thread begins or ceases to run. */
struct change {
	double time;
	uint32_t thread;
	bool runs;
};

/* A thread on its way; its windows end after so many cycles each. */
struct place {
	const struct replay_step *step, *end;
	const double *window;
	double cycles; /* so far */
	struct rng rng;
};

struct places {
	const struct workload *workload;
	const struct replay_event *event;
	struct place *of; /* by thread */
	double call;      /* what a call takes, */
	bool noisy;       /* or on average: from 0 to twice that */
};

static double cycles_at(const double *window, const struct replay_step *s)
{
	double begin;

	if (s->window == UINT32_MAX)
		return 0;
	begin = s->window ? window[s->window - 1] : 0;
	return begin + s->share * (window[s->window] - begin);
}

static double call_of(const struct places *all, struct place *p)
{
	if (!all->noisy)
		return all->call;
	return all->call * 2 * 0x1p-53 * (double)(rng_next(&p->rng) >> 11);
}

/* An epoch ends at the next event, or with the last instruction. */
static const struct sync_event *next_event(void *data, uint32_t thread,
					   double *duration)
{
	const struct places *all = data;
	struct place *p = &all->of[thread];
	const struct replay_event *e;
	double before = p->cycles;

	if (p->step == p->end)
		return NULL;
	e = &all->event[p->step->event];
	p->cycles = cycles_at(p->window, p->step++);
	*duration = p->cycles - before;
	if (!e->free)
		*duration += call_of(all, p);
	return &e->event;
}

static bool starts(void *data, uint32_t thread)
{
	return ((const struct places *)data)->workload->thread[thread].starts;
}

static int by_time(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	return (a->time > b->time) - (a->time < b->time);
}

/*
 * The time in which a number of threads run is shared among them: the heights
 * add up to the time in which any runs (Du Bois et al., OOPSLA 2013).
 */
static void share_time(struct predicted *p, const bool *runs, double time)
{
	uint32_t n = 0;

	for (size_t i = 0; i < p->threads; i++)
		n += runs[i];
	for (size_t i = 0; i < p->threads; i++) {
		if (!runs[i])
			continue;
		p->thread[i].height += time / n;
		p->thread[i].runs += time;
	}
}

static void add_intervals(struct predicted *p, const struct sync_replay *r,
			  double share)
{
	struct change *change = xcalloc(2 * r->intervals + 1, sizeof(*change));
	bool *runs = xcalloc(p->threads, sizeof(*runs));
	double now = 0;
	size_t n = 0;

	for (size_t i = 0; i < r->intervals; i++) {
		const struct sync_interval *x = &r->interval[i];

		if (!(x->end > x->begin))
			continue;
		change[n++] = (struct change){ x->begin, x->thread, true };
		change[n++] = (struct change){ x->end, x->thread, false };
	}
	qsort(change, n, sizeof(*change), by_time);
	for (size_t i = 0; i < n; i++) {
		if (change[i].time > now)
			share_time(p, runs, share * (change[i].time - now));
		now = change[i].time;
		runs[change[i].thread] = change[i].runs;
	}
	free(runs);
	free(change);
}

static void begin_times(struct predicted *p)
{
	p->cycles = 0;
	for (size_t i = 0; i < p->threads; i++) {
		struct predicted_thread *t = &p->thread[i];

		t->start = t->cycles = t->idle = t->height = t->runs = 0;
	}
}

/* Add @share of the times of @r. */
static void add_times(struct predicted *p, const struct sync_replay *r,
		      double share)
{
	for (size_t i = 0; i < p->threads; i++) {
		struct predicted_thread *to = &p->thread[i];
		const struct sync_times *t = &r->time[i];

		to->start += share * t->start;
		to->cycles += share * (t->end - t->start);
		to->idle += share * (t->waited + t->queued);
	}
	p->cycles += share * r->total;
	add_intervals(p, r, share);
}

static void end_times(struct predicted *p)
{
	for (size_t i = 0; i < p->threads; i++) {
		struct predicted_thread *t = &p->thread[i];
		double others = 0;

		for (int k = 0; k < CPI_COMPONENTS; k++)
			others += k == CPI_SYNC ? 0 : t->stack[k];
		t->stack[CPI_SYNC] = fmax(t->cycles - others, 0);
	}
}

/* Replay with calls that take what they take, or for @seed with noise. */
static int replay(struct sync_replay *r, const struct predicted *p,
		  const struct replayed *of, uint64_t seed, char *error)
{
	const struct workload *w = of->workload;
	const struct sync_options how = {
		.cores = of->machine->cores,
		.wake = of->machine->sync_wake,
		.literal = of->options->literal_order,
		.no_intervals = of->options->times_only,
	};
	struct places places = {
		.workload = w,
		.event = of->plan->event,
		.of = xcalloc(w->threads + 1, sizeof(*places.of)),
		.call = of->machine->sync_call,
		.noisy = seed,
	};
	const struct sync_source source = { &places, next_event, starts };
	char why[SYNC_ERROR_BYTES];
	int err;

	for (size_t i = 0; i < w->threads; i++) {
		places.of[i] = (struct place){
			.step = of->plan->step[i],
			.end = of->plan->step[i] + w->thread[i].events + 1,
			.window = p->thread[i].end,
		};
		rng_seed(&places.of[i].rng, seed, i);
	}
	err = sync_replay_source(r, &source, (uint32_t)w->threads, &how, why);
	if (err) {
		snprintf(error, WORKLOAD_ERROR_BYTES, "%s", why);
		sync_replay_release(r);
	}
	free(places.of);
	return err;
}

int predict_replay(struct predicted *p, const struct replayed *of,
		   char error[WORKLOAD_ERROR_BYTES])
{
	struct sync_replay r;
	int err = replay(&r, p, of, 0, error);

	if (err)
		return err;
	begin_times(p);
	add_times(p, &r, 1);
	end_times(p);
	sync_replay_release(&r);
	return 0;
}

int predict_replay_noisy(struct predicted *p, const struct replayed *of,
			 char error[WORKLOAD_ERROR_BYTES])
{
	double plain = p->cycles;
	struct sync_replay r;

	for (uint64_t seed = 1; seed <= NOISY; seed++) {
		/* An order without an end, a lost wakeup, tells nothing. */
		if (replay(&r, p, of, seed, error))
			return predict_replay(p, of, error);
		if (seed == 1 && fabs(r.total - plain) <= STEADY * plain) {
			sync_replay_release(&r);
			return 0;
		}
		if (seed == 1)
			begin_times(p);
		add_times(p, &r, 1.0 / NOISY);
		sync_replay_release(&r);
	}
	end_times(p);
	return 0;
}
