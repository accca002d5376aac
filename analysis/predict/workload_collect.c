/* SPDX-License-Identifier: MIT */
/*
 * workload_collect - a trace as a profile
 *
 * The threads go on in turns, as if each instruction took the same time; they
 * wait for each other as sync_engine says.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collect_steps.h"
#include "analysis/base/util.h"

enum {
	MICROS_WANTED = 500,
	MICROS_MAX = 4000, /* of all threads */
	INTERVAL_MIN = 4000,
	WINDOW_MIN = 200 * 1000,
	WINDOW_INTERVALS = 10, /* micro-traces of a window */
};

static void on_run(void *data, uint32_t thread, uint32_t core, double time)
{
	struct collected *c = &((struct collector *)data)->thread[thread];

	c->runs = true;
	c->clock = time;
}

static void on_stop(void *data, uint32_t thread, double time)
{
	((struct collector *)data)->thread[thread].runs = false;
}

/* The next event of the thread happens; behind the last it ends. */
static int happen(struct collector *all, struct collected *c, char *error)
{
	static const struct sync_event end = { .kind = SYNC_EXIT };
	const struct workload_thread *t = c->to;
	const struct sync_event *e =
		c->happened < t->events ? &t->event[c->happened++].event : &end;

	c->over |= e->kind == SYNC_EXIT;
	return sync_engine_event(all->engine, (uint32_t)(c - all->thread), e,
				 c->clock, error);
}

/*
 * When what the thread does next happens. A block begins now, and so does an
 * event; a quick step uses its line after the instructions that passed before.
 */
static double next_time(const struct collected *c)
{
	if (c->happened < c->to->events || c->more <= 0)
		return c->clock;
	return c->clock + (double)(int64_t)c->insns;
}

/*
 * The thread that goes on, and in *@until when another one does. Of two with
 * the same time the first one goes on.
 */
static struct collected *next_thread(struct collector *c, double *until)
{
	struct collected *best = NULL;
	double time = INFINITY;

	*until = INFINITY;
	for (size_t i = 0; i < c->threads; i++) {
		double x;

		if (!c->thread[i].runs)
			continue;
		x = next_time(&c->thread[i]);
		if (x < time) {
			*until = time;
			time = x;
			best = &c->thread[i];
		} else if (x < *until) {
			*until = x;
		}
	}
	return best;
}

/* The next block, or the next event. Returns 0, or -EINVAL. */
static int go_on(struct collector *all, struct collected *c, char *error)
{
	int more;

	if (c->happened < c->to->events)
		return happen(all, c, error);
	more = collect_step(all, c);
	if (!more)
		return happen(all, c, error);
	if (more < 0)
		snprintf(error, WORKLOAD_ERROR_BYTES, "%s", c->stream->error);
	return more < 0 ? more : 0;
}

/*
 * The same until others have their turn: at the time @until, or when an event
 * lets them run.
 */
static int go_on_until(struct collector *all, struct collected *c, double until,
		       char *error)
{
	int err;

	do {
		if (c->happened < c->to->events || c->more <= 0)
			return go_on(all, c, error);
		err = go_on(all, c, error);
	} while (!err && next_time(c) < until);
	return err;
}

static int start_threads(struct collector *c, char *error)
{
	for (uint32_t i = 0; i < c->threads; i++) {
		struct collected *x = &c->thread[i];

		collect_begin(c, x);
		if (x->more < 0) {
			snprintf(error, WORKLOAD_ERROR_BYTES, "%s",
				 x->stream->error);
			return x->more;
		}
		x->to->starts = !trace_sync_is_created(&x->stream->step);
		if (x->to->starts)
			sync_engine_start(c->engine, i, 0);
	}
	return 0;
}

static int collect_all(struct collector *c, char *error)
{
	const struct sync_hooks hooks = { c, on_run, on_stop };
	struct collected *next;
	double until;
	int err;

	c->engine = sync_engine_new((uint32_t)c->threads, (uint32_t)c->threads,
				    0, &hooks);
	for (uint32_t i = 0; i < c->threads; i++)
		sync_engine_name(c->engine, i, c->thread[i].to->id);
	err = start_threads(c, error);
	do {
		while (!err && (next = next_thread(c, &until)))
			err = go_on_until(c, next, until, error);
	} while (!err && sync_engine_go_before(c->engine, true));
	if (!err)
		err = sync_engine_check_end(c->engine, error);
	for (size_t i = 0; i < c->threads && !err; i++) {
		if (c->thread[i].over)
			continue;
		snprintf(error, WORKLOAD_ERROR_BYTES,
			 "thread %u is never created", c->thread[i].to->id);
		err = -EINVAL;
	}
	sync_engine_free(c->engine);
	return err;
}

static void begin_thread(struct collected *c, struct workload_thread *to,
			 const struct trace *t, size_t i)
{
	c->to = to;
	to->id = t->thread[i].id;
	c->stream = trace_stream_open(t, i);
	c->stream->takes_quick = true;
	c->predictor = predictor_new_all();
	c->entropy = entropy_new();
	thread_uses_init(&c->uses, to);
	c->micro = micro_new();
	c->line = UINT64_MAX;
}

static void end_thread(struct collected *c)
{
	if (c->to->windows)
		collect_end_window(c);
	c->to->lines = c->uses.lines;
	c->to->stored_lines = c->uses.stored_lines;
	trace_stream_close(c->stream);
	predictor_free(c->predictor);
	entropy_free(c->entropy);
	free(c->micro);
	thread_uses_release(&c->uses);
}

/*
 * Such that each thread has MICROS_WANTED micro-traces, if it is long enough,
 * and all together at most MICROS_MAX.
 */
static void choose_intervals(struct collector *c, const struct trace *t,
			     uint64_t interval)
{
	uint64_t least = 0;

	for (size_t i = 0; i < t->threads; i++)
		least += t->thread[i].instructions / MICROS_MAX;
	if (least < INTERVAL_MIN)
		least = INTERVAL_MIN;
	for (size_t i = 0; i < t->threads; i++) {
		struct collected *x = &c->thread[i];
		uint64_t wanted = t->thread[i].instructions / MICROS_WANTED;

		x->interval = wanted < least ? least : wanted;
		if (interval)
			x->interval = interval;
		x->spacing = x->interval;
		x->scattered = !interval;
		x->window = x->interval * WINDOW_INTERVALS;
		if (x->window < WINDOW_MIN)
			x->window = WINDOW_MIN / x->interval * x->interval;
	}
}

static void *room_for(size_t *n, size_t size)
{
	void *p = reallocarray(NULL, *n, size);

	if (!p)
		*n = 0;
	return p;
}

/*
 * Have room for the micro-traces that the thread will probably have, so that
 * they are not copied time and again. Pages that nothing is put into take no
 * memory.
 */
static void make_room(struct collected *c, uint64_t instructions)
{
	struct workload_thread *to = c->to;
	uint64_t micros = instructions / c->spacing + 1;
	size_t insns = (micros < MICROS_WANTED ? micros : MICROS_WANTED) *
		       (size_t)MICRO_INSNS;

	to->uops_room = insns + insns / 2;
	to->uop = room_for(&to->uops_room, sizeof(*to->uop));
	to->accesses_room = insns;
	to->access = room_for(&to->accesses_room, sizeof(*to->access));
}

int workload_collect(struct workload *w, const struct trace *t,
		     uint64_t interval, char error[WORKLOAD_ERROR_BYTES])
{
	struct collector c = { .threads = t->threads };
	int err;

	memset(w, 0, sizeof(*w));
	if (t->threads > WORKLOAD_THREADS_MAX) {
		snprintf(error, WORKLOAD_ERROR_BYTES,
			 "the trace has %zu threads; a profile has at most %d",
			 t->threads, WORKLOAD_THREADS_MAX);
		return -EINVAL;
	}
	w->threads = t->threads;
	w->shared = w->threads > 1;
	line_uses_init(&c.uses, w->shared);
	block_works_init(&c.blocks, t);
	w->thread = xcalloc(w->threads, sizeof(*w->thread));
	c.thread = xcalloc(c.threads, sizeof(*c.thread));
	for (size_t i = 0; i < c.threads; i++)
		begin_thread(&c.thread[i], &w->thread[i], t, i);
	choose_intervals(&c, t, interval);
	for (size_t i = 0; i < c.threads; i++) {
		make_room(&c.thread[i], t->thread[i].instructions);
		if (c.thread[i].interval > w->interval)
			w->interval = c.thread[i].interval;
	}
	err = collect_all(&c, error);
	w->quick = c.quick;
	for (size_t i = 0; i < c.threads; i++)
		end_thread(&c.thread[i]);
	line_uses_release(&c.uses);
	block_works_release(&c.blocks);
	free(c.thread);
	if (err)
		workload_release(w);
	return err;
}
