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

/* The cycles of thread @t at an instruction; those asked for never fall. */
struct place {
	const struct workload_thread *t;
	const double *end; /* by window */
	size_t window;
	uint64_t before; /* instructions of the windows before it */
};

static double cycles_at(struct place *p, uint64_t instruction)
{
	const struct workload_thread *t = p->t;
	double begin, share;

	while (p->window + 1 < t->windows &&
	       instruction - p->before >= t->window[p->window].instructions) {
		p->before += t->window[p->window].instructions;
		p->window++;
	}
	if (!t->windows || !t->window[p->window].instructions)
		return 0;
	begin = p->window ? p->end[p->window - 1] : 0;
	share = (double)(instruction - p->before) /
		(double)t->window[p->window].instructions;
	return begin + share * (p->end[p->window] - begin);
}

/* The epochs of a thread, malloc'ed; those of its calls take @call each. */
static struct sync_thread epochs_of(const struct workload_thread *t,
				    const double *end, double call)
{
	struct sync_epoch *epoch = xcalloc(t->events + 1, sizeof(*epoch));
	struct place place = { t, end, 0, 0 };
	double before = 0;

	for (size_t i = 0; i < t->events; i++) {
		double now = cycles_at(&place, t->event[i].instruction);

		epoch[i].duration = now - before;
		if (!t->event[i].outside)
			epoch[i].duration += call;
		epoch[i].event = t->event[i].event;
		before = now;
	}
	epoch[t->events] = (struct sync_epoch){
		.duration = cycles_at(&place, t->instructions) - before,
		.event = { .kind = SYNC_EXIT },
	};
	return (struct sync_thread){ epoch, t->events + 1, t->starts };
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
		   const struct machine *m, bool literal,
		   char error[WORKLOAD_ERROR_BYTES])
{
	const struct sync_options options = {
		.cores = m->cores,
		.wake = m->sync_wake,
		.literal = literal,
	};
	struct sync_thread *thread = xcalloc(w->threads, sizeof(*thread));
	char why[SYNC_ERROR_BYTES];
	struct sync_replay r;
	int err;

	for (size_t i = 0; i < w->threads; i++)
		thread[i] = epochs_of(&w->thread[i], p->thread[i].end,
				      m->sync_call);
	err = sync_replay(&r, thread, (uint32_t)w->threads, &options, why);
	if (err)
		snprintf(error, WORKLOAD_ERROR_BYTES, "%s", why);
	else
		take_times(p, w, &r);
	sync_replay_release(&r);
	for (size_t i = 0; i < w->threads; i++)
		free((void *)thread[i].epoch);
	free(thread);
	return err;
}
