/* SPDX-License-Identifier: MIT */
/*
 * workload_collect - a trace as a profile
 *
 * The threads go on in turns, as if each instruction took the same time; they
 * wait for each other as sync_engine says.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "block_work.h"
#include "entropy.h"
#include "line_uses.h"
#include "micro.h"
#include "workload.h"
#include "analysis/base/util.h"
#include "analysis/model/predictor.h"
#include "analysis/model/trace_sync.h"

enum {
	MICROS_WANTED = 500,
	MICROS_MAX = 4000, /* of all threads */
	INTERVAL_MIN = 4000,
	WINDOW_MIN = 200 * 1000,
	WINDOW_INTERVALS = 10, /* micro-traces of a window */
	PHASE_INTERVALS = 3,   /* the same, if a phase ends */
};

struct collected {
	struct workload_thread *to;
	struct trace_stream *stream;
	struct predictor *predictor[PREDICTORS];
	struct entropy *entropy;
	struct thread_uses uses;
	uint64_t interval, window; /* instructions */
	uint64_t at;               /* instructions since the interval began */
	struct window *now;        /* the latest one */
	struct micro *micro;
	uint64_t line;  /* of the latest instruction */
	bool new_phase; /* the next instruction begins a window */

	struct trace_sync sync;
	int more;        /* 1: the step is still to be collected; 0, -EINVAL */
	bool runs, over; /* in the order of the threads */
	double clock;    /* instructions, and waits for others */
	size_t happened; /* events so far */
};

struct collector {
	struct line_uses uses;
	struct block_works blocks;
	struct sync_engine *engine;
	struct collected *thread;
	size_t threads;
};

static void end_window(struct collected *c)
{
	entropy_take(c->entropy, c->now->entropy);
	thread_uses_end_window(&c->uses, c->now);
}

static void begin_window(struct collected *c)
{
	struct workload_thread *t = c->to;

	if (t->windows)
		end_window(c);
	t->window = grow(t->window, t->windows, &t->windows_room,
			 sizeof(*t->window));
	c->now = &t->window[t->windows++];
	memset(c->now, 0, sizeof(*c->now));
}

static void use(struct collector *all, struct collected *c, uint64_t line,
		enum window_kind kind, struct micro_access *to)
{
	thread_uses_add(&c->uses, &all->uses, (uint32_t)(c - all->thread), line,
			kind, c->now, to);
}

/*
 * The instruction's loads, or its stores, each line once; the one that reuses
 * its line after the longest time stands for them. False if it makes none.
 */
static bool use_data(struct collector *all, struct collected *c,
		     const struct trace_access *access, size_t n, bool stores,
		     uint64_t *addr, struct micro_access *to)
{
	uint64_t line = 0;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = access[i].addr >> MACHINE_LINE_SHIFT;
		struct micro_access a;

		if (access[i].store != stores || (any && at == line))
			continue;
		line = at;
		use(all, c, at, stores ? WINDOW_STORES : WINDOW_LOADS, &a);
		if (!any)
			*addr = access[i].addr;
		if (!any || a.reuse > to->reuse)
			*to = a;
		any = true;
	}
	return any;
}

static void fetch_line(struct collector *all, struct collected *c,
		       uint64_t line)
{
	struct micro_access a;

	if (line == c->line)
		return;
	c->line = line;
	use(all, c, line, WINDOW_FETCHES, &a);
	if (c->uses.in_micro)
		micro_fetch(c->micro, &a);
}

static uint8_t predict(struct collected *c, const struct trace_insn *insn,
		       uint64_t next_ip)
{
	bool taken = next_ip && next_ip != insn->ip + insn->bytes;
	uint8_t wrong = 0;

	entropy_branch(c->entropy, insn->ip, taken);
	for (int i = 0; i < PREDICTORS; i++)
		if (!predictor_right(c->predictor[i], insn->ip, taken)) {
			c->now->wrong[i]++;
			wrong |= (uint8_t)(1u << i);
		}
	return wrong;
}

static void begin_insn(struct collected *c)
{
	struct workload_thread *t = c->to;

	t->instructions++;
	if (!t->windows || c->now->instructions >= c->window || c->new_phase)
		begin_window(c);
	c->new_phase = false;
	if (!c->at)
		micro_begin(c->micro, t);
	c->uses.in_micro = c->at < MICRO_INSNS;
	if (++c->at == c->interval)
		c->at = 0;
	if (c->uses.in_micro)
		t->micro[t->micros - 1].instructions++;
	c->now->instructions++;
}

static void collect_insn(struct collector *all, struct collected *c,
			 const struct trace_insn *insn,
			 const struct trace_access *access, size_t n,
			 uint64_t next_ip)
{
	const struct uop_insn *decoded = &insn->decoded;

	begin_insn(c);
	fetch_line(all, c, insn->ip >> MACHINE_LINE_SHIFT);
	fetch_line(all, c, (insn->ip + insn->bytes - 1) >> MACHINE_LINE_SHIFT);
	for (int i = 0; i < decoded->uops; i++) {
		const struct uop *u = &decoded->uop[i];
		bool memory = u->flags & (UOP_IS_LOAD | UOP_IS_STORE);
		struct micro_access a;
		uint64_t addr = 0;
		uint8_t wrong = 0;

		c->uses.uop++;
		c->now->uops[u->class]++;
		memory = memory && use_data(all, c, access, n,
					    u->flags & UOP_IS_STORE, &addr, &a);
		if (u->flags & UOP_IS_BRANCH)
			wrong = predict(c, insn, next_ip);
		if (c->uses.in_micro)
			micro_add(c->micro, c->to, u, addr, memory ? &a : NULL,
				  wrong);
	}
}

/* Behind these a thread often does something else. */
static bool ends_phase(enum sync_kind kind)
{
	return kind == SYNC_BARRIER || kind == SYNC_CREATE || kind == SYNC_JOIN;
}

static void collect_events(struct collected *c, const struct trace_step *step)
{
	struct workload_thread *t = c->to;

	for (size_t i = 0; i < step->events; i++) {
		struct workload_event e = { .instruction = t->instructions,
					    .outside = step->event[i].outside };

		if (!trace_sync_event(&c->sync, c->stream->trace,
				      &step->event[i], &e.event))
			continue;
		t->event = grow(t->event, t->events, &t->events_room,
				sizeof(*t->event));
		t->event[t->events++] = e;
		micro_event(c->micro);
		if (ends_phase(e.event.kind) && t->windows &&
		    c->now->instructions >= PHASE_INTERVALS * c->interval)
			c->new_phase = true;
	}
}

/* Collect the block, an instruction after the other. */
static void collect_insns(struct collector *all, struct collected *c,
			  const struct trace_step *step)
{
	const struct trace_block *b = step->block;
	size_t first = 0, end = 0;

	for (uint32_t i = 0; i < b->insns; i++, first = end) {
		const struct trace_insn *insn =
			&c->stream->trace->insn[b->first + i];

		while (end < step->accesses && step->access[end].index == i)
			end++;
		collect_insn(all, c, insn, step->access + first, end - first,
			     i + 1 == b->insns ? step->next_ip
					       : insn->ip + insn->bytes);
	}
}

/* True if no micro-trace has an instruction of the block, and one window all */
static bool is_plain(const struct collected *c, const struct trace_block *b)
{
	return c->at >= MICRO_INSNS && c->at + b->insns <= c->interval &&
	       !c->new_phase && c->now->instructions + b->insns <= c->window;
}

/* The same as collect_insns, of a plain block. */
static void collect_block(struct collector *all, struct collected *c,
			  const struct trace_step *step)
{
	const struct trace_block *b = step->block;
	const struct block_work *w = block_works_of(&all->blocks, b);
	size_t first = 0, end = 0;

	c->uses.in_micro = false;
	c->to->instructions += b->insns;
	c->now->instructions += b->insns;
	c->at = c->at + b->insns == c->interval ? 0 : c->at + b->insns;
	for (uint32_t i = 0; i < w->classes; i++)
		c->now->uops[w->class[i].class] += w->class[i].uops;
	for (uint32_t i = 0; i < w->steps; i++) {
		const struct block_step *s = &w->step[i];
		const struct trace_insn *insn =
			&c->stream->trace->insn[b->first + s->index];
		struct micro_access a;
		uint64_t addr;

		while (first < step->accesses &&
		       step->access[first].index < s->index)
			end = ++first;
		while (end < step->accesses &&
		       step->access[end].index == s->index)
			end++;
		c->uses.uop += s->uops;
		if (s->kind == BLOCK_FETCH)
			fetch_line(all, c, s->line);
		else if (s->kind == BLOCK_BRANCH)
			predict(c, insn,
				s->index + 1 == b->insns
					? step->next_ip
					: insn->ip + insn->bytes);
		else
			use_data(all, c, step->access + first, end - first,
				 s->kind == BLOCK_STORES, &addr, &a);
	}
	c->uses.uop += w->rest;
}

/*
 * Read the step after the one that was collected. What its accesses need is
 * fetched while the other threads have their turns.
 */
static void look_ahead(struct collector *all, struct collected *c)
{
	const struct trace_step *step = &c->stream->step;

	c->more = trace_stream_next(c->stream);
	if (c->more <= 0)
		return;
	for (size_t i = 0; i < step->accesses; i++)
		thread_uses_fetch(&c->uses, &all->uses,
				  step->access[i].addr >> MACHINE_LINE_SHIFT);
}

/* Collect the next block. Returns 1, 0 at the end, or -EINVAL. */
static int collect_step(struct collector *all, struct collected *c)
{
	const struct trace_step *step = &c->stream->step;
	const struct trace_block *b = step->block;

	if (c->more <= 0)
		return c->more;
	if (b && is_plain(c, b))
		collect_block(all, c, step);
	else if (b)
		collect_insns(all, c, step);
	c->clock += b ? b->insns : 0;
	collect_events(c, step);
	look_ahead(all, c);
	return 1;
}

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

static struct collected *next_thread(struct collector *c)
{
	struct collected *best = NULL;

	for (size_t i = 0; i < c->threads; i++)
		if (c->thread[i].runs &&
		    (!best || c->thread[i].clock < best->clock))
			best = &c->thread[i];
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

static int start_threads(struct collector *c, char *error)
{
	for (uint32_t i = 0; i < c->threads; i++) {
		struct collected *x = &c->thread[i];

		x->more = trace_stream_next(x->stream);
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
	int err;

	c->engine = sync_engine_new((uint32_t)c->threads, (uint32_t)c->threads,
				    0, &hooks);
	for (uint32_t i = 0; i < c->threads; i++)
		sync_engine_name(c->engine, i, c->thread[i].to->id);
	err = start_threads(c, error);
	do {
		while (!err && (next = next_thread(c)))
			err = go_on(c, next, error);
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
	for (int k = 0; k < PREDICTORS; k++)
		c->predictor[k] = predictor_new((enum machine_predictor)k);
	c->entropy = entropy_new();
	thread_uses_init(&c->uses, to);
	c->micro = micro_new();
	c->line = UINT64_MAX;
}

static void end_thread(struct collected *c)
{
	if (c->to->windows)
		end_window(c);
	c->to->lines = c->uses.lines;
	c->to->stored_lines = c->uses.stored_lines;
	trace_stream_close(c->stream);
	for (int k = 0; k < PREDICTORS; k++)
		predictor_free(c->predictor[k]);
	free(c->entropy);
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
		x->window = x->interval * WINDOW_INTERVALS;
		if (x->window < WINDOW_MIN)
			x->window = WINDOW_MIN / x->interval * x->interval;
	}
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
	for (size_t i = 0; i < c.threads; i++)
		if (c.thread[i].interval > w->interval)
			w->interval = c.thread[i].interval;
	err = collect_all(&c, error);
	for (size_t i = 0; i < c.threads; i++)
		end_thread(&c.thread[i]);
	line_uses_release(&c.uses);
	block_works_release(&c.blocks);
	free(c.thread);
	if (err)
		workload_release(w);
	return err;
}
