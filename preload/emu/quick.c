/* SPDX-License-Identifier: MIT */
/*
 * quick - a trace for a profile: most of it says only which lines are used
 */
#include <errno.h>
#include <string.h>

#include "quick.h"
#include "scheduler.h"
#include "trace_blocks.h"
#include "trace_thread.h"
#include "src/base/zero_pages.h"

enum {
	WHOLE = 3000, /* instructions that are traced whole at a time */
	SPACING_MIN = 16000,
	SPACING_MAX = 1 << 28, /* a token counts up to 2^30 instructions */
	PHASES = 240,          /* of all threads: then the spacing doubles, */
	PHASES_OF_THREAD = 60, /* but not before so many of each */
	OWNERS_LOG = 20,
	GROUP_LOG = 6, /* of lines side by side, as a walk uses them */
	CALM = 4096, /* uses in the trace, of all threads: longer than a moment
			of each thread */
};

/* Who used the lines at a place; lines that meet there are one. */
struct owner {
	uint16_t thread; /* + 1; 0: nobody */
	bool stored;     /* that thread stored to it */
	bool many;       /* others have loaded it */
	bool wanders;    /* it came, and came before, within CALM uses */
	uint32_t since;
};

static struct owner *owners;
static uint32_t uses; /* of all threads */
static uint32_t last; /* the highest number of a thread with a trace */

/* Of all threads: the longer the program runs, the less is traced whole. */
static uint64_t spacing; /* instructions from beginning to beginning, on
			    average */
static uint32_t phases;  /* with this spacing */

int emu_quick_open(void)
{
	owners = zero_pages(sizeof(*owners) << OWNERS_LOG);
	spacing = SPACING_MIN;
	return owners ? 0 : -ENOMEM;
}

void emu_quick_start(struct vcpu *v)
{
	uint32_t number = (uint32_t)(v - emu.vcpu);

	if (number > last)
		last = number;
	v->trace->quick.left = WHOLE;
	rng_seed(&v->trace->quick.rng, emu.config.seed, v->record->id);
}

static struct owner *owner_of(uint64_t line)
{
	uint64_t group = (line >> GROUP_LOG) * UINT64_C(0x9e3779b97f4a7c15) >>
			 (64 - OWNERS_LOG + GROUP_LOG);

	return &owners[group << GROUP_LOG | (line & ((1 << GROUP_LOG) - 1))];
}

/* The others' tables forget the line. */
static void forget(const struct vcpu *but, uint64_t line)
{
	for (uint32_t i = 0; i <= last; i++) {
		struct trace_thread *t = emu.vcpu[i].trace;
		uint64_t *place;

		if (!t || &emu.vcpu[i] == but)
			continue;
		place = &t->quick.data[quick_place(line)];
		if (*place >> 1 == line)
			*place = 0;
	}
}

/* True if the thread may know the line from now on. */
static bool own(const struct vcpu *v, uint64_t line, bool store)
{
	uint16_t self = (uint16_t)(v - emu.vcpu + 1);
	struct owner *o = owner_of(line);
	bool wanders;

	if (o->thread == self) {
		if (store && o->many)
			forget(v, line);
		o->many &= !store;
		o->stored |= store;
		o->wanders &= uses - o->since < CALM;
		return !o->wanders;
	}
	if (o->thread && !o->stored && !store) {
		o->many = true;
		return true;
	}
	wanders = o->thread && uses - o->since < CALM;
	if (o->thread)
		forget(v, line);
	if (wanders)
		emu_scheduler_contended();
	*o = (struct owner){ .thread = self,
			     .stored = store,
			     .wanders = wanders,
			     .since = uses };
	return !wanders;
}

/* Put a use of @line, which @token says the kind of. */
static void put(struct trace_thread *t, uint64_t line, enum trace_token token)
{
	struct quick_thread *q = &t->quick;
	uint64_t far = trace_zigzag((int64_t)(line - q->line));
	uint64_t insns = (uint64_t)(q->told - q->left);
	unsigned char *to;

	if (trace_thread_is_full(t))
		emu_trace_flush(t);
	to = trace_put(t->at, far << TRACE_TOKEN_BITS | token);
	to = trace_thread_put(to, insns);
	t->at = trace_thread_put(to, q->accesses);
	t->in_chunk += insns;
	q->line = line;
	q->told = q->left;
	q->accesses = q->settled = 0;
}

/* Another use in the trace: now and then the table of @lines is emptied. */
static void count(uint32_t *sent, uint64_t lines[QUICK_LINES])
{
	if (++*sent < QUICK_LINES)
		return;
	*sent = 0;
	memset(lines, 0, QUICK_LINES * sizeof(*lines));
}

/*
 * True if the thread has stored to @line before, and nobody else has used it
 * since: a store of it now changes nothing for the others.
 */
static bool is_own(const struct vcpu *v, uint64_t line)
{
	const struct owner *o = owner_of(line);

	return o->thread == v - emu.vcpu + 1 && o->stored && !o->many;
}

void emu_quick_use(struct vcpu *v, uint64_t line, bool store)
{
	struct trace_thread *t = v->trace;
	struct quick_thread *q = &t->quick;
	uint64_t *place = &q->data[quick_place(line)];

	/* It knows the line (0: none), but no store to it. */
	if (line && *place == line << 1 && is_own(v, line)) {
		*place |= 1;
		return;
	}
	*place = own(v, line, store) ? line << 1 | store : 0;
	if (!q->on)
		return;
	put(t, line, store ? TRACE_STORE : TRACE_LOAD);
	uses++;
	count(&q->data_sent, q->data);
}

void emu_quick_fetch(struct trace_thread *t, const struct trace_block *b)
{
	struct quick_thread *q = &t->quick;

	for (uint64_t line = b->line; line != b->last + 1; line++) {
		uint64_t *place = &q->code[quick_place(line)];

		if (__builtin_expect(*place == line, 1))
			continue;
		*place = line;
		put(t, line, TRACE_BLOCK);
		count(&q->code_sent, q->code);
	}
}

void emu_quick_pass(struct trace_thread *t)
{
	struct quick_thread *q = &t->quick;
	uint64_t insns = (uint64_t)(q->told - q->left);
	unsigned char *to;

	if (!q->on || !(insns | q->accesses))
		return;
	if (trace_thread_is_full(t))
		emu_trace_flush(t);
	to = trace_put(t->at, TRACE_PASS << TRACE_TOKEN_BITS | TRACE_EVENT);
	t->at = trace_put(trace_put(to, insns), q->accesses);
	t->in_chunk += insns;
	q->told = q->left;
	q->accesses = q->settled = 0;
}

static void put_mark(struct trace_thread *t, enum trace_event_kind kind,
		     uint64_t ip)
{
	unsigned char *to;

	if (trace_thread_is_full(t))
		emu_trace_flush(t);
	to = trace_put(t->at, (uint64_t)kind << TRACE_TOKEN_BITS | TRACE_EVENT);
	t->at = trace_put(trace_put(to, ip), 0);
}

void emu_quick_change(struct trace_thread *t, uint64_t ip)
{
	struct quick_thread *q = &t->quick;

	emu_quick_pass(t);
	q->on = !q->on;
	put_mark(t, q->on ? TRACE_QUICK : TRACE_WHOLE, ip);
	if (!q->on) {
		q->left = WHOLE;
		return;
	}
	q->left = (int64_t)(spacing / 2 + rng_below(&q->rng, spacing)) - WHOLE;
	q->told = q->left;
	if (++phases >= PHASES && phases >= PHASES_OF_THREAD * (last + 1)) {
		phases = 0;
		if (spacing < SPACING_MAX)
			spacing *= 2;
	}
}
