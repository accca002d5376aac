/* SPDX-License-Identifier: MIT */
/*
 * sync_replay - the times of threads whose epochs have known durations
 */
#include <stdlib.h>
#include <string.h>

#include "sync_replay.h"
#include "analysis/base/util.h"

struct runner {
	const struct sync_event *event; /* the next; NULL: it ends */
	double duration;                /* until then */
	double begin;                   /* on its core since then */
	double from;                    /* of the next epoch */
	double time;                    /* of the next event */
	uint32_t core;
	bool runs;
};

struct state {
	struct sync_replay *result;
	const struct sync_source *source;
	const struct sync_options *options;
	struct sync_engine *engine;
	struct runner *runner;
	uint32_t threads;
};

/* The epoch that comes next begins at @time. */
static void begin_epoch(const struct state *s, struct runner *r, double time)
{
	r->from = r->time = time;
	if (r->event)
		r->time = time + r->duration + s->options->call;
}

static void on_run(void *data, uint32_t thread, uint32_t core, double time)
{
	struct state *s = data;
	struct runner *r = &s->runner[thread];

	r->runs = true;
	r->begin = time;
	r->core = core;
	begin_epoch(s, r, time);
}

static void on_stop(void *data, uint32_t thread, double time)
{
	struct state *s = data;
	struct sync_replay *to = s->result;
	struct runner *r = &s->runner[thread];

	r->runs = false;
	if (s->options->no_intervals)
		return;
	to->interval = grow(to->interval, to->intervals, &to->interval_room,
			    sizeof(*to->interval));
	to->interval[to->intervals++] =
		(struct sync_interval){ thread, r->core, r->begin, time };
}

/* The running thread that comes next, or SYNC_NOWHERE. */
static uint32_t next_thread(const struct state *s)
{
	uint32_t best = SYNC_NOWHERE;
	double first = 0;

	for (uint32_t i = 0; i < s->threads; i++) {
		const struct runner *r = &s->runner[i];
		double key = s->options->literal ? r->from : r->time;

		if (!r->runs)
			continue;
		if (best == SYNC_NOWHERE || key < first) {
			best = i;
			first = key;
		}
	}
	return best;
}

static int step(struct state *s, uint32_t i, char error[SYNC_ERROR_BYTES])
{
	static const struct sync_event end = { .kind = SYNC_EXIT };
	struct runner *r = &s->runner[i];
	const struct sync_event *event = r->event;
	double time = r->time;

	if (event)
		r->event = s->source->next(s->source->data, i, &r->duration);
	begin_epoch(s, r, time);
	return sync_engine_event(s->engine, i, event ? event : &end, time,
				 error);
}

static void take_times(struct state *s)
{
	struct sync_replay *r = s->result;

	for (uint32_t i = 0; i < s->threads; i++) {
		r->time[i] = sync_engine_times(s->engine, i);
		if (r->time[i].end > r->total)
			r->total = r->time[i].end;
	}
}

int sync_replay_source(struct sync_replay *r, const struct sync_source *source,
		       uint32_t threads, const struct sync_options *options,
		       char error[SYNC_ERROR_BYTES])
{
	struct state s = { .result = r,
			   .source = source,
			   .options = options,
			   .threads = threads };
	const struct sync_hooks hooks = { &s, on_run, on_stop };
	uint32_t i;
	int err = 0;

	memset(r, 0, sizeof(*r));
	r->time = xcalloc(threads + 1, sizeof(*r->time));
	s.runner = xcalloc(threads + 1, sizeof(*s.runner));
	s.engine =
		sync_engine_new(threads, options->cores, options->wake, &hooks);
	for (i = 0; i < threads; i++)
		s.runner[i].event =
			source->next(source->data, i, &s.runner[i].duration);
	for (i = 0; i < threads; i++)
		if (source->starts(source->data, i))
			sync_engine_start(s.engine, i, 0);
	do {
		while (!err && (i = next_thread(&s)) != SYNC_NOWHERE)
			err = step(&s, i, error);
	} while (!err && sync_engine_go_before(s.engine, true));
	if (!err)
		err = sync_engine_check_end(s.engine, error);
	take_times(&s);
	sync_engine_free(s.engine);
	free(s.runner);
	return err;
}

/* Epochs in memory, and which of each thread comes next. */
struct list {
	const struct sync_thread *thread;
	size_t *next;
};

static const struct sync_event *next_of(void *data, uint32_t thread,
					double *duration)
{
	struct list *l = data;
	const struct sync_thread *t = &l->thread[thread];
	size_t i = l->next[thread];

	if (i == t->epochs)
		return NULL;
	l->next[thread]++;
	*duration = t->epoch[i].duration;
	return &t->epoch[i].event;
}

static bool starts(void *data, uint32_t thread)
{
	return ((const struct list *)data)->thread[thread].starts;
}

int sync_replay(struct sync_replay *r, const struct sync_thread *thread,
		uint32_t threads, const struct sync_options *options,
		char error[SYNC_ERROR_BYTES])
{
	struct list l = { thread, xcalloc(threads + 1, sizeof(*l.next)) };
	const struct sync_source source = { &l, next_of, starts };
	int err = sync_replay_source(r, &source, threads, options, error);

	free(l.next);
	return err;
}

void sync_replay_release(struct sync_replay *r)
{
	free(r->time);
	free(r->interval);
	memset(r, 0, sizeof(*r));
}
