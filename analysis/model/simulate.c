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

#include "simulate.h"
#include "sync_engine.h"
#include "trace_sync.h"
#include "analysis/base/util.h"

/* A thread of the trace. */
struct runner {
	struct trace_stream *stream;
	uint32_t insn; /* next instruction of the step */
	size_t access; /* its first access */
	size_t event;  /* the step's next */
	struct trace_sync sync;
	struct sync_event next; /* the event that it has come to */
	bool began, at_event, over;
	uint32_t core;
	uint64_t where; /* the end of the latest block that is no jump */
	uint64_t left;  /* the time at which it left its core */
	struct core_account account;
	struct caches_counts before; /* of its core, when it came there */
	struct caches_counts caches;
};

struct simulation {
	struct simulated *result;
	const struct trace *trace;
	const struct machine *machine;
	struct caches *caches;
	struct core **core;
	struct runner **on; /* by core: who runs there, or NULL */
	uint32_t cores;
	struct runner *runner;
	struct sync_engine *engine;
	struct timeline *timeline;       /* or NULL */
	const struct separate *separate; /* or NULL */
};

/* The mnemonics are static, so a pointer stands for one. */
static void count_unknown(struct simulated *s, const char *mnemonic)
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

static void add_caches(struct caches_counts *to, const struct caches_counts *a,
		       const struct caches_counts *before)
{
#define X(field) to->field += a->field - before->field;
	CACHES_COUNTS(X)
#undef X
}

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
	r->core = core;
	if (!r->began) {
		r->left = (uint64_t)sync_engine_times(s->engine, thread).start;
		if (s->timeline)
			timeline_begin(s->timeline, thread, (double)r->left);
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
	r->left = (uint64_t)time;
	note(s, r, r->left);
	add_caches(&r->caches, caches_counts(s->caches, r->core), &r->before);
}

/* The thread comes to an event, which takes @cycles before it happens. */
static void come_to_event(struct simulation *s, struct runner *r,
			  uint64_t cycles)
{
	struct core *c = s->core[r->core];

	r->next.where = r->where;
	r->at_event = true;
	core_sleep(c, core_end(c) + cycles);
}

static void take_event(struct simulation *s, struct runner *r)
{
	const struct trace_event *e = &r->stream->step.event[r->event++];

	if (trace_sync_event(&r->sync, s->trace, e, &r->next))
		come_to_event(s, r, e->outside ? 0 : s->machine->sync_call);
}

/* The stream has ended, and so does the thread. */
static void take_end(struct simulation *s, struct runner *r)
{
	r->over = true;
	r->next = (struct sync_event){ .kind = SYNC_EXIT };
	come_to_event(s, r, 0);
}

static void execute_one(struct simulation *s, struct runner *r)
{
	const struct trace_step *step = &r->stream->step;
	const struct trace_block *b = step->block;
	const struct trace_insn *insn = &s->trace->insn[b->first + r->insn];
	size_t first = r->access;

	while (r->access < step->accesses &&
	       step->access[r->access].index == r->insn)
		r->access++;
	r->insn++;
	/* A call of a library goes through a jump, which says nothing. */
	if (r->insn == b->insns && strcmp(insn->decoded.mnemonic, "jmp"))
		r->where = insn->ip;
	if (!insn->decoded.known)
		count_unknown(s->result, insn->decoded.mnemonic);
	core_execute(
		s->core[r->core], insn, step->access + first, r->access - first,
		r->insn == b->insns ? step->next_ip : insn->ip + insn->bytes);
}

/* Read the next step. Returns 1, 0 at the end, or -EINVAL. */
static int next_step(const struct simulation *s, struct runner *r)
{
	int more;

	r->insn = 0;
	r->access = 0;
	r->event = 0;
	more = trace_stream_next(r->stream);
	if (s->separate && more > 0)
		separate_step(s->separate, s->trace, &r->stream->step);
	return more;
}

/* Execute the next instruction, or come to the next event. */
static int run_one(struct simulation *s, struct runner *r)
{
	const struct trace_step *step = &r->stream->step;
	int more;

	if (step->block && r->insn < step->block->insns) {
		execute_one(s, r);
		return 0;
	}
	if (r->event < step->events) {
		take_event(s, r);
		return 0;
	}
	more = next_step(s, r);
	if (!more)
		take_end(s, r);
	return more < 0 ? more : 0;
}

/* The event that the thread has come to happens. */
static int do_event(struct simulation *s, struct runner *r, char *error)
{
	r->at_event = false;
	if (r->next.kind == SYNC_EXIT)
		r->over = true;
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

	for (uint32_t i = 0; i < s->trace->threads; i++)
		now = fmax(now, sync_engine_times(s->engine, i).end);
	for (uint32_t i = 0; i < s->trace->threads; i++)
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
		err = run_one(s, r);
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
static int check_end(const struct simulation *s, char *error)
{
	char why[SYNC_ERROR_BYTES];
	int err = sync_engine_check_end(s->engine, why);

	for (uint32_t i = 0; i < s->trace->threads && !err; i++)
		if (!s->runner[i].over) {
			snprintf(why, sizeof(why), "thread %u is never created",
				 s->trace->thread[i].id);
			err = -EINVAL;
		}
	if (err)
		snprintf(error, TRACE_ERROR_BYTES, "%s%.250s",
			 s->trace->complete ? "" : "the trace was cut short: ",
			 why);
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
	to->instructions += t->counts.instructions;
}

static void collect(struct simulation *s)
{
	struct simulated *to = s->result;

	for (uint32_t i = 0; i < s->trace->threads; i++)
		collect_thread(s, i);
	to->cores = s->cores;
	for (uint32_t i = 0; i < s->cores; i++)
		to->core[i] = *caches_counts(s->caches, i);
	caches_memory(s->caches, &to->memory_reads, &to->memory_writes);
	to->ns = (double)to->cycles / s->machine->ghz;
	if (to->unknowns)
		qsort(to->unknown, to->unknowns, sizeof(*to->unknown),
		      by_count);
}

static void open_all(struct simulation *s)
{
	const struct sync_hooks hooks = { s, on_run, on_stop };
	size_t threads = s->trace->threads;

	s->caches = caches_new(s->machine, s->cores);
	caches_watch(s->caches, s->result->misses);
	s->core = xcalloc(s->cores, sizeof(struct core *));
	for (uint32_t i = 0; i < s->cores; i++)
		s->core[i] =
			core_new(s->machine, s->caches, s->result->misses, i);
	s->on = xcalloc(s->cores, sizeof(struct runner *));
	s->runner = xcalloc(threads, sizeof(*s->runner));
	s->engine = sync_engine_new((uint32_t)threads, s->cores,
				    s->machine->sync_wake, &hooks);
	for (uint32_t i = 0; i < threads; i++) {
		s->runner[i].stream = trace_stream_open(s->trace, i);
		sync_engine_name(s->engine, i, s->trace->thread[i].id);
	}
}

static void close_all(struct simulation *s)
{
	for (size_t i = 0; i < s->trace->threads; i++)
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
	for (uint32_t i = 0; i < s->trace->threads; i++) {
		struct trace_stream *stream = s->runner[i].stream;

		if (next_step(s, &s->runner[i]) < 0) {
			snprintf(error, TRACE_ERROR_BYTES, "%s", stream->error);
			return -EINVAL;
		}
		if (!trace_sync_is_created(&stream->step))
			sync_engine_start(s->engine, i, 0);
	}
	return 0;
}

static void init_timeline(struct timeline *to, const struct trace *t)
{
	timeline_init(to, t->threads);
	for (size_t i = 0; i < t->threads; i++)
		to->thread[i].id = t->thread[i].id;
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
		.cores =
			t->threads < m->cores ? (uint32_t)t->threads : m->cores,
	};
	int err;

	if (s.timeline)
		init_timeline(s.timeline, t);
	memset(result, 0, sizeof(*result));
	if (extras->misses)
		result->misses = misses_new(m, s.cores);
	result->thread = xcalloc(t->threads, sizeof(*result->thread));
	result->core = xcalloc(m->cores, sizeof(*result->core));
	open_all(&s);
	err = start(&s, error);
	if (!err)
		err = run_all(&s, error);
	if (!err && !t->complete) {
		start_orphans(&s);
		err = run_all(&s, error);
	}
	if (!err)
		err = check_end(&s, error);
	collect(&s);
	close_all(&s);
	if (!err && !result->instructions) {
		snprintf(error, TRACE_ERROR_BYTES,
			 "holds no instructions; did the program reach the "
			 "region of interest?");
		err = -EINVAL;
	}
	if (err)
		simulated_release(result);
	return err;
}

void simulated_release(struct simulated *s)
{
	free(s->thread);
	free(s->core);
	free(s->unknown);
	misses_free(s->misses);
	memset(s, 0, sizeof(*s));
}
