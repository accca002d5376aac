/* SPDX-License-Identifier: MIT */
/*
 * simulate - run a trace on a machine
 *
 * The core whose next instruction is dispatched first comes first, so that the
 * cores meet in the shared caches in the order of time. A thread comes to an
 * event when all instructions before it have committed and the call has taken
 * its time. The event waits until the other cores are that far: so events come
 * in the order of their times, too.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "trace_live.h"
#include "analysis/base/util.h"

/* The thread has come to @time. */
static void note(struct simulation *s, const struct runner *r, uint64_t time)
{
	if (s->timeline)
		timeline_note(s->timeline, (size_t)(r - s->runner),
			      (double)time, &r->account.stack);
}

/* Threads that run and leave their cores, as the engine says. */
static void on_run(void *data, uint32_t thread, uint32_t core, double time)
{
	struct simulation *s = data;
	struct runner *r = &s->runner[thread];

	s->on[core] = r;
	if (s->sampler)
		s->sampler->fetches.running++;
	r->core = core;
	if (!r->began) {
		r->left = (uint64_t)sync_engine_times(s->engine, thread).start;
		if (s->timeline)
			timeline_begin(s->timeline, thread, (double)r->left);
		if (s->sampler)
			unit_sampler_start(s->sampler, thread, &r->account,
					   (double)r->left);
	}
	r->began = true;
	r->before = *caches_counts(s->caches, core);
	r->account.stack.cycles[CPI_SYNC] += time - (double)r->left;
	note(s, r, (uint64_t)time);
	core_switch(s->core[core], &r->account, (uint64_t)time);
}

static void on_stop(void *data, uint32_t thread, double time)
{
	struct simulation *s = data;
	struct runner *r = &s->runner[thread];

	s->on[r->core] = NULL;
	if (s->sampler)
		s->sampler->fetches.running--;
	r->left = (uint64_t)time;
	note(s, r, r->left);
	caches_counts_add(&r->caches, caches_counts(s->caches, r->core),
			  &r->before);
}

/* The event that the thread has come to happens. */
static int do_event(struct simulation *s, struct runner *r, char *error)
{
	r->at_event = false;
	if (r->next.kind == SYNC_EXIT) {
		r->over = true;
		if (s->sampler)
			unit_sampler_end(s->sampler, (size_t)(r - s->runner),
					 (double)core_end(s->core[r->core]));
	}
	return sync_engine_event(s->engine, (uint32_t)(r - s->runner), &r->next,
				 (double)core_end(s->core[r->core]), error);
}

/* The time of the thread's event, or of its next instruction. */
static uint64_t next_time(const struct simulation *s, const struct runner *r)
{
	const struct core *c = s->core[r->core];

	return r->at_event ? core_end(c) : core_now(c);
}

/*
 * The thread that comes next. *@until is the time before which no other one
 * comes.
 */
static struct runner *next_runner(const struct simulation *s, uint64_t *until)
{
	struct runner *best = NULL;
	uint64_t first = 0;

	*until = UINT64_MAX;
	for (uint32_t i = 0; i < s->cores; i++) {
		struct runner *r = s->on[i];
		uint64_t t;

		if (!r)
			continue;
		t = next_time(s, r);
		if (!best || t < first) {
			if (best)
				*until = first;
			best = r;
			first = t;
		} else if (t < *until) {
			*until = t;
		}
	}
	return best;
}

/*
 * A trace that was cut short may have a thread and not its creation: such
 * threads begin when no other can go on.
 */
static void start_orphans(struct simulation *s)
{
	double now = 0;

	for (uint32_t i = 0; i < s->threads; i++)
		now = fmax(now, sync_engine_times(s->engine, i).end);
	for (uint32_t i = 0; i < s->threads; i++)
		if (s->runner[i].stream)
			sync_engine_start(s->engine, i, now);
}

/* Run @r until it comes to an event, or until another thread comes first. */
static int run_until(struct simulation *s, struct runner *r, uint64_t until,
		     char *error)
{
	const struct core *c = s->core[r->core];
	int err;

	if (s->timeline) {
		uint64_t next =
			timeline_next(s->timeline, (size_t)(r - s->runner));

		if (core_end(c) >= next)
			note(s, r, core_end(c));
		until = until < next ? until : next;
	}
	do {
		err = runner_step(s, r);
	} while (!err && !r->at_event && core_now(c) < until);
	if (err)
		snprintf(error, TRACE_ERROR_BYTES, "%s", r->stream->error);
	return err;
}

static int run_all(struct simulation *s, char *error)
{
	struct runner *r;
	uint64_t until;
	int err = 0;

	while (!err && (r = next_runner(s, &until)))
		err = r->at_event ? do_event(s, r, error)
				  : run_until(s, r, until, error);
	return err;
}

/* A thread that the trace has and that never ran, or those that wait. */
static int check_end(const struct simulation *s, bool complete, char *error)
{
	char why[SYNC_ERROR_BYTES];
	int err = sync_engine_check_end(s->engine, why);

	for (uint32_t i = 0; i < s->threads && !err; i++)
		if (s->runner[i].stream && !s->runner[i].over) {
			snprintf(why, sizeof(why), "thread %u is never created",
				 s->trace->thread[i].id);
			err = -EINVAL;
		}
	if (err)
		snprintf(error, TRACE_ERROR_BYTES, "%s%.250s",
			 complete ? "" : "the trace was cut short: ", why);
	return err;
}

static void collect_thread(struct simulation *s, uint32_t i)
{
	const struct runner *r = &s->runner[i];
	struct sync_times times = sync_engine_times(s->engine, i);
	struct simulated *to = s->result;
	struct simulated_thread *t = &to->thread[to->threads];

	if (times.end > (double)to->cycles)
		to->cycles = (uint64_t)times.end;
	if (!r->account.counts.instructions)
		return;
	to->threads++;
	t->id = s->trace->thread[i].id;
	t->start = (uint64_t)times.start;
	t->cycles = (uint64_t)(times.end - times.start);
	t->counts = r->account.counts;
	t->stack = r->account.stack;
	t->caches = r->caches;
	if (s->sampler)
		simulated_estimate_thread(t, s->sampler, i);
	to->instructions += t->counts.instructions;
}

/*
 * The share of the time that depends on which thread has a core when, if there
 * are more threads than cores. A core is idle only if no thread is ready, so m
 * cores need (work + idle) / m in any order (Graham, Bell System Technical
 * Journal 45, 1966): the order decides the idle time alone, and no thread comes
 * sooner than by what threads waited for cores.
 */
static double order_share(const struct simulation *s)
{
	double end = 0, queued = 0, idle;

	for (uint32_t i = 0; i < s->threads; i++)
		end = fmax(end, sync_engine_times(s->engine, i).end);
	idle = end * s->cores;
	for (uint32_t i = 0; i < s->threads; i++) {
		struct sync_times t = sync_engine_times(s->engine, i);

		queued += t.queued;
		idle -= t.end - t.start - t.waited - t.queued;
	}
	return end > 0 ? fmin(idle / s->cores, queued) / end : 0;
}

static void collect(struct simulation *s, const struct sampling_wish *wish)
{
	struct simulated *to = s->result;

	to->thread = xcalloc(s->threads, sizeof(*to->thread));
	for (uint32_t i = 0; i < s->threads; i++)
		collect_thread(s, i);
	to->cores = s->known < s->cores ? (uint32_t)s->known : s->cores;
	for (uint32_t i = 0; i < to->cores; i++)
		to->core[i] = *caches_counts(s->caches, i);
	caches_memory(s->caches, &to->memory_reads, &to->memory_writes);
	simulated_sort_unknown(to);
	if (wish)
		simulated_estimate(to, s->sampler, wish, order_share(s));
	to->ns = (double)to->cycles / s->machine->ghz;
}

static void open_all(struct simulation *s)
{
	const struct sync_hooks hooks = { s, on_run, on_stop };
	const struct trace *t = s->trace;
	size_t room = t->live ? TRACE_THREADS_MAX : t->threads;

	s->caches = caches_new(s->machine, s->cores);
	caches_watch(s->caches, s->result->misses);
	s->core = xcalloc(s->cores, sizeof(struct core *));
	for (uint32_t i = 0; i < s->cores; i++)
		s->core[i] =
			core_new(s->machine, s->caches, s->result->misses, i);
	s->on = xcalloc(s->cores, sizeof(struct runner *));
	s->runner = xcalloc(room, sizeof(*s->runner));
	s->threads = s->known = t->threads;
	s->engine = sync_engine_new((uint32_t)s->threads, s->cores,
				    s->machine->sync_wake, &hooks);
	for (uint32_t i = 0; i < s->threads; i++) {
		s->runner[i].stream = trace_stream_open(t, i);
		sync_engine_name(s->engine, i, t->thread[i].id);
	}
}

static void close_all(struct simulation *s)
{
	for (size_t i = 0; i < s->threads; i++)
		if (s->runner[i].stream)
			trace_stream_close(s->runner[i].stream);
	for (uint32_t i = 0; i < s->cores; i++)
		core_free(s->core[i]);
	sync_engine_free(s->engine);
	caches_free(s->caches);
	free(s->core);
	free(s->on);
	free(s->runner);
}

/* Start the threads that no other one creates. */
static int start(struct simulation *s, char *error)
{
	if (s->trace->live)
		runner_meet(s, 1);
	for (uint32_t i = 0; i < s->trace->threads; i++) {
		struct trace_stream *stream = s->runner[i].stream;

		if (runner_read(s, &s->runner[i]) < 0) {
			snprintf(error, TRACE_ERROR_BYTES, "%s", stream->error);
			return -EINVAL;
		}
		if (!trace_sync_is_created(&stream->step))
			sync_engine_start(s->engine, i, 0);
	}
	return 0;
}

/* If that is wished, simulate only a sample. */
static int start_sampling(struct simulation *s,
			  const struct sampling_wish *wish,
			  struct unit_sampler *to, char *error)
{
	int err;

	if (!wish)
		return 0;
	s->sampler = to;
	err = unit_sampler_init(to, trace_instructions(s->trace),
				s->trace->threads, s->trace->blocks, s->cores,
				wish, error);
	for (uint32_t i = 0; i < s->cores; i++)
		core_note(s->core[i], &to->fetches, &to->forecast[i]);
	return err;
}

/* The headers of a damaged trace may promise more than it has. */
static int check_sample(const struct unit_sampler *s, char *error)
{
	if (s->sampling.units >= SAMPLING_LEAST)
		return 0;
	snprintf(error, TRACE_ERROR_BYTES,
		 "has fewer instructions than its chunks say; simulate without "
		 "--sampled");
	return -EINVAL;
}

static void init_timeline(struct timeline *to, const struct trace *t)
{
	timeline_init(to, t->threads);
	for (size_t i = 0; i < t->threads; i++)
		to->thread[i].id = t->thread[i].id;
}

/*
 * Run to the end of the trace. Returns 1, 0 if the trace is cut short, or a
 * negative error.
 */
static int run_to_end(struct simulation *s, char *error)
{
	size_t known;
	int err, complete;

	do {
		known = s->known;
		err = run_all(s, error);
		if (!err && s->trace->live)
			runner_meet(s, known + 1);
	} while (!err &&
		 (s->known > known || sync_engine_go_before(s->engine, false)));
	if (err)
		return err;
	complete = s->trace->live ? trace_live_end(s->trace->live, error)
				  : s->trace->complete;
	if (complete < 0)
		return complete;
	if (!complete)
		start_orphans(s);
	do {
		err = run_all(s, error);
	} while (!err && sync_engine_go_before(s->engine, complete));
	return err ? err : complete;
}

int simulate(struct simulated *result, const struct trace *t,
	     const struct machine *m, char error[TRACE_ERROR_BYTES])
{
	static const struct simulate_extras none = { 0 };

	return simulate_with(result, t, m, &none, error);
}

int simulate_with(struct simulated *result, const struct trace *t,
		  const struct machine *m, const struct simulate_extras *extras,
		  char error[TRACE_ERROR_BYTES])
{
	struct simulation s = {
		.result = result,
		.trace = t,
		.machine = m,
		.timeline = extras->timeline,
		.separate = extras->separate,
		.progress = extras->progress,
		.cores = t->threads < m->cores && !t->live
				 ? (uint32_t)t->threads
				 : m->cores,
	};
	struct unit_sampler sampler;
	int err;

	if (s.timeline)
		init_timeline(s.timeline, t);
	memset(result, 0, sizeof(*result));
	if (extras->misses)
		result->misses = misses_new(m, s.cores);
	result->core = xcalloc(m->cores, sizeof(*result->core));
	if (t->live)
		trace_live_enter(t->live);
	open_all(&s);
	err = start_sampling(&s, extras->sampled, &sampler, error);
	if (!err)
		err = start(&s, error);
	if (!err) {
		err = run_to_end(&s, error);
		if (err >= 0)
			err = check_end(&s, err, error);
	}
	if (!err && s.sampler)
		err = check_sample(s.sampler, error);
	collect(&s, extras->sampled);
	close_all(&s);
	if (s.sampler)
		unit_sampler_release(s.sampler);
	if (!err && !result->instructions) {
		snprintf(error, TRACE_ERROR_BYTES,
			 "holds no instructions; did the program reach the "
			 "region of interest?");
		err = -EINVAL;
	}
	if (err)
		simulated_release(result);
	if (t->live)
		trace_live_leave(t->live, err);
	return err;
}
