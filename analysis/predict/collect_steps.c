/* SPDX-License-Identifier: MIT */
/*
 * collect_steps - what the steps of a trace tell about a thread
 */
#include <string.h>

#include "collect_quick.h"
#include "collect_steps.h"
#include "analysis/base/util.h"

#define GOLDEN_SECTION 0.6180339887498949

enum {
	PHASE_INTERVALS = 3, /* micro-traces of a window, if a phase ends */
	SOON = 1, /* uses ahead: by then the entry of the line has arrived */
};

void collect_end_window(struct collected *c)
{
	entropy_take(c->entropy, c->now->entropy);
	collect_quick_end_window(c);
	thread_uses_end_window(&c->uses, c->now);
}

static void begin_window(struct collected *c)
{
	struct workload_thread *t = c->to;

	if (t->windows)
		collect_end_window(c);
	t->window = grow(t->window, t->windows, &t->windows_room,
			 sizeof(*t->window));
	c->now = &t->window[t->windows++];
	memset(c->now, 0, sizeof(*c->now));
}

static void use(struct collector *all, struct collected *c, uint64_t line,
		enum window_kind kind, struct micro_access *to)
{
	c->quick.uses[kind]++;
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
		struct micro_access other, *a = any ? &other : to;

		if (access[i].store != stores || (any && at == line))
			continue;
		line = at;
		use(all, c, at, stores ? WINDOW_STORES : WINDOW_LOADS, a);
		if (!any)
			*addr = access[i].addr;
		else if (other.reuse > to->reuse)
			*to = other;
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
	unsigned int wrong = predictor_wrong(c->predictor, insn->ip, taken);

	entropy_branch(c->entropy, insn->ip, taken);
	for (int i = 0; i < PREDICTORS; i++)
		c->now->wrong[i] += wrong >> i & 1;
	return (uint8_t)wrong;
}

/*
 * So many instructions more. A micro-trace begins somewhere in each spacing,
 * not at the same place of all: otherwise a program of 20 or 100 equal rounds
 * has them at the same places of each round. Places that move on by the golden
 * section spread evenly over rounds of any length.
 */
static void advance(struct collected *c, uint32_t insns)
{
	uint64_t late;

	c->at += insns;
	if (c->at != c->interval)
		return;
	c->at = 0;
	if (!c->scattered)
		return;
	late = c->late + (uint64_t)((double)c->spacing * GOLDEN_SECTION);
	if (late >= c->spacing)
		late -= c->spacing;
	c->interval = c->spacing + late - c->late;
	c->late = late;
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
	advance(c, 1);
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
	c->uses.ip = insn->ip;
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
		    c->now->instructions >= PHASE_INTERVALS * c->spacing)
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
	advance(c, b->insns);
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
		c->uses.ip = insn->ip;
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

static bool is_of_data(const struct trace_use *u)
{
	return u->kind == TRACE_LOAD || u->kind == TRACE_STORE;
}

/*
 * Read more uses behind those in the ring, if there is room for half of it, and
 * fetch what the profile will need of their lines.
 */
static void fill_ahead(struct collected *c)
{
	struct collected_ahead *a = &c->ahead;

	if (a->n > COLLECT_AHEAD / 2)
		return;
	for (; a->n < COLLECT_AHEAD; a->n++) {
		struct trace_use *u =
			&a->use[(a->first + a->n) % COLLECT_AHEAD];

		if (!trace_stream_use(c->stream, u))
			break;
		if (is_of_data(u))
			thread_uses_fetch(&c->uses, u->line);
	}
}

static void fetch_soon(struct collector *all, struct collected *c)
{
	const struct collected_ahead *a = &c->ahead;
	const struct trace_use *u = &a->use[(a->first + SOON) % COLLECT_AHEAD];

	if (a->n <= SOON || !is_of_data(u))
		return;
	thread_uses_fetch_state(&c->uses, &all->uses, u->line);
	thread_uses_fetch_sets(&c->uses, &all->uses, u->line);
}

/*
 * Read the step after the one that was collected. What its accesses need is
 * fetched while the other threads have their turns.
 */
static void look_ahead(struct collector *all, struct collected *c)
{
	const struct trace_step *step = &c->stream->step;
	struct collected_ahead *a = &c->ahead;

	if (!a->n) {
		c->more = trace_stream_next(c->stream);
		c->insns = 0;
		if (c->more <= 0)
			return;
		for (size_t i = 0; i < step->accesses; i++) {
			uint64_t line =
				step->access[i].addr >> MACHINE_LINE_SHIFT;

			thread_uses_fetch(&c->uses, line);
			thread_uses_fetch_sets(&c->uses, &all->uses, line);
		}
		if (!step->quick || step->block || step->events)
			return;
		a->use[a->first] = step->use;
		a->n = 1;
	}
	fill_ahead(c);
	c->insns = a->use[a->first].insns;
	fetch_soon(all, c);
}

void collect_begin(struct collector *all, struct collected *c)
{
	look_ahead(all, c);
}

/*
 * A new phase begins in a quick part, too: else what a thread does behind a
 * barrier would count in the window before it until the next whole part.
 */
static void begin_phase_in_quick(struct collected *c)
{
	if (!c->new_phase)
		return;
	if (!c->quick.on) /* it is like what the window before has */
		collect_quick_begin(c);
	begin_window(c);
	c->new_phase = false;
}

/* Collect the first use in the ring. */
static void collect_use(struct collector *all, struct collected *c)
{
	struct collected_ahead *a = &c->ahead;
	const struct trace_use *u = &a->use[a->first];

	if (c->now) { /* a whole part comes first */
		begin_phase_in_quick(c);
		collect_quick(all, c, u);
	}
	c->clock += (double)(int64_t)u->insns;
	a->first = (a->first + 1) % COLLECT_AHEAD;
	a->n--;
}

/* Collect the step of the stream. */
static void collect_events_or_block(struct collector *all, struct collected *c)
{
	const struct trace_step *step = &c->stream->step;
	const struct trace_block *b = step->block;

	if (b && c->quick.on)
		collect_quick_end(c);
	if (b && is_plain(c, b))
		collect_block(all, c, step);
	else if (b)
		collect_insns(all, c, step);
	c->quick.whole_accesses += step->accesses;
	c->clock += (double)(b ? b->insns : 0);
	collect_events(c, step);
}

int collect_step(struct collector *all, struct collected *c)
{
	if (c->more <= 0)
		return c->more;
	if (c->ahead.n)
		collect_use(all, c);
	else
		collect_events_or_block(all, c);
	look_ahead(all, c);
	return 1;
}
