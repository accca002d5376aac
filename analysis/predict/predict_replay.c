/* SPDX-License-Identifier: MIT */
/*
 * predict_replay - threads whose speed is known wait for each other
 */
#include <stdlib.h>

#include "predict_replay.h"
#include "analysis/base/util.h"
#include "analysis/model/sync_replay.h"

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
};

struct places {
	const struct workload *workload;
	const struct replay_event *event;
	struct place *of; /* by thread */
	double call;      /* what a call takes */
};

static double cycles_at(const double *window, const struct replay_step *s)
{
	double begin;

	if (s->window == UINT32_MAX)
		return 0;
	begin = s->window ? window[s->window - 1] : 0;
	return begin + s->share * (window[s->window] - begin);
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
		*duration += all->call;
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

static void take_intervals(struct predicted *p, const struct sync_replay *r)
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
			share_time(p, runs, change[i].time - now);
		now = change[i].time;
		runs[change[i].thread] = change[i].runs;
	}
	free(runs);
	free(change);
}

static void take_times(struct predicted *p, const struct workload *w,
		       const struct sync_replay *r)
{
	for (size_t i = 0; i < p->threads; i++) {
		struct predicted_thread *to = &p->thread[i];
		const struct sync_times *t = &r->time[i];
		double others = 0;

		to->cycles = t->end - t->start;
		for (int k = 0; k < CPI_COMPONENTS; k++)
			others += k == CPI_SYNC ? 0 : to->stack[k];
		to->stack[CPI_SYNC] =
			to->cycles > others ? to->cycles - others : 0;
		to->idle = t->waited + t->queued;
		to->start = t->start;
	}
	p->cycles = r->total;
	take_intervals(p, r);
}

int predict_replay(struct predicted *p, const struct workload *w,
		   const struct replay_plan *plan, const struct machine *m,
		   const struct predict_options *options,
		   char error[WORKLOAD_ERROR_BYTES])
{
	const struct sync_options how = {
		.cores = m->cores,
		.wake = m->sync_wake,
		.literal = options->literal_order,
		.no_intervals = options->times_only,
	};
	struct places places = {
		.workload = w,
		.event = plan->event,
		.of = xcalloc(w->threads + 1, sizeof(*places.of)),
		.call = m->sync_call,
	};
	const struct sync_source source = { &places, next_event, starts };
	char why[SYNC_ERROR_BYTES];
	struct sync_replay r;
	int err;

	for (size_t i = 0; i < w->threads; i++)
		places.of[i] = (struct place){
			.step = plan->step[i],
			.end = plan->step[i] + w->thread[i].events + 1,
			.window = p->thread[i].end,
		};
	err = sync_replay_source(&r, &source, (uint32_t)w->threads, &how, why);
	if (err)
		snprintf(error, WORKLOAD_ERROR_BYTES, "%s", why);
	else
		take_times(p, w, &r);
	sync_replay_release(&r);
	free(places.of);
	return err;
}
