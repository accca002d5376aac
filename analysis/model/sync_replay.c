/* SPDX-License-Identifier: MIT */
/*
 * sync_replay - the times of threads whose epochs have known durations
 */
#include <stdlib.h>
#include <string.h>

#include "sync_replay.h"
#include "analysis/base/util.h"

struct runner {
	size_t next;  /* epoch */
	double begin; /* on its core since then */
	double from;  /* of the next epoch */
	uint32_t core;
	bool runs;
};

struct state {
	struct sync_replay *result;
	const struct sync_thread *thread;
	const struct sync_options *options;
	struct sync_engine *engine;
	struct runner *runner;
	uint32_t threads;
};

static void on_run(void *data, uint32_t thread, uint32_t core, double time)
{
	struct state *s = data;
	struct runner *r = &s->runner[thread];

	r->runs = true;
	r->begin = r->from = time;
	r->core = core;
}

static void on_stop(void *data, uint32_t thread, double time)
{
	struct state *s = data;
	struct sync_replay *to = s->result;
	struct runner *r = &s->runner[thread];

	r->runs = false;
	to->interval = grow(to->interval, to->intervals, &to->interval_room,
			    sizeof(*to->interval));
	to->interval[to->intervals++] =
		(struct sync_interval){ thread, r->core, r->begin, time };
}

/* When the thread comes to its next event, or to its end. */
static double event_time(const struct state *s, uint32_t i)
{
	const struct runner *r = &s->runner[i];

	if (r->next == s->thread[i].epochs)
		return r->from;
	return r->from + s->thread[i].epoch[r->next].duration +
	       s->options->call;
}

/* The running thread that comes next, or SYNC_NOWHERE. */
static uint32_t next_thread(const struct state *s)
{
	uint32_t best = SYNC_NOWHERE;
	double first = 0;

	for (uint32_t i = 0; i < s->threads; i++) {
		double key;

		if (!s->runner[i].runs)
			continue;
		key = s->options->literal ? s->runner[i].from
					  : event_time(s, i);
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
	const struct sync_thread *t = &s->thread[i];
	struct runner *r = &s->runner[i];
	double time = event_time(s, i);
	const struct sync_event *event =
		r->next < t->epochs ? &t->epoch[r->next].event : &end;

	r->next += r->next < t->epochs;
	r->from = time;
	return sync_engine_event(s->engine, i, event, time, error);
}

int sync_replay(struct sync_replay *r, const struct sync_thread *thread,
		uint32_t threads, const struct sync_options *options,
		char error[SYNC_ERROR_BYTES])
{
	struct state s = { .result = r,
			   .thread = thread,
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
		if (thread[i].starts)
			sync_engine_start(s.engine, i, 0);
	do {
		while (!err && (i = next_thread(&s)) != SYNC_NOWHERE)
			err = step(&s, i, error);
	} while (!err && sync_engine_go_before(s.engine));
	if (!err)
		err = sync_engine_check_end(s.engine, error);
	for (i = 0; i < threads; i++) {
		r->time[i] = sync_engine_times(s.engine, i);
		if (r->time[i].end > r->total)
			r->total = r->time[i].end;
	}
	sync_engine_free(s.engine);
	free(s.runner);
	return err;
}

void sync_replay_release(struct sync_replay *r)
{
	free(r->time);
	free(r->interval);
	memset(r, 0, sizeof(*r));
}
