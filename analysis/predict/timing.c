/* SPDX-License-Identifier: MIT */
/*
 * timing - how long the micro-operations of a micro-trace take on a core
 */
#include <math.h>
#include <stdlib.h>

#include "timing_internal.h"
#include "analysis/base/util.h"

enum {
	DISPATCH_TO_RESULT = 2, /* of core.refill */
	WARM_PART = 4,          /* the first quarter is not counted */
	PILED_UP = 4,           /* stores that are left: their queue may fill */
	TIMED_MAX = 16,         /* times, until it has filled */
	STORE_END = 8,          /* more than levels */
};

/* Where the core is in the micro-trace. */
struct front {
	uint64_t dispatch, next, last_issue, stores_done, barrier, last_commit;
	uint32_t dispatched;     /* in the cycle of the last dispatch */
	enum cpi_component late; /* what @next is late by */
	double slots;            /* of the stack */
	/* What the micro-operation waits for a store to end, and where to. */
	uint64_t queued;
	enum caches_level queued_for;
};

static void set_up(struct timing *t, const struct machine *m)
{
	timing_core_of(&t->core, m, (1u << LEVELS) - 1);
	t->ports = port_lanes_init(&t->lanes, m) ? NULL : ports_new(m);
	cycle_queue_init(&t->iq, m->iq);
	time_queue_init(&t->loads, m->load_queue);
	time_queue_init(&t->stores, m->store_queue);
	time_queue_init(&t->mshrs, m->mshrs);
	t->set = t->core.sets ? xcalloc(t->core.sets, sizeof(*t->set)) : NULL;
	t->slot_share = 1.0 / m->width;
	t->others = 0;
}

static void tear_down(struct timing *t)
{
	struct time_queue *queues[] = { &t->mshrs, &t->stores, &t->loads };

	for (size_t i = 0; i < sizeof(queues) / sizeof(*queues); i++)
		time_queue_release(queues[i]);
	cycle_queue_release(&t->iq);
	if (t->ports)
		ports_free(t->ports);
	free(t->set);
}

struct timing *timing_new(const struct machine *m)
{
	struct timing *t = xcalloc(1, sizeof(*t));

	set_up(t, m);
	t->pass = 1; /* 0 is no micro-operation */
	t->bus = memory_bus_new(t->core.slot);
	return t;
}

void timing_change(struct timing *t, const struct machine *m)
{
	tear_down(t);
	set_up(t, m);
}

void timing_free(struct timing *t)
{
	tear_down(t);
	port_lanes_release(&t->lanes);
	free(t->bus);
	free(t);
}

void timing_others(struct timing *t, double lines)
{
	t->others = lines;
}

/* A line of instructions comes first. */
static void fetch(struct timing *t, struct front *f, uint32_t i)
{
	enum caches_level level =
		(enum caches_level)(t->level[i] >> LEVELS_CODE_SHIFT);
	uint64_t now = later(f->dispatch, f->next), bus;

	t->to->code[level]++;
	if (level == LEVEL_L1)
		return;
	f->next = level == LEVEL_MEMORY ? timing_ask_memory(t, now, &bus)
					: now + t->core.latency[level];
	f->late = CPI_ICACHE;
}

/* Whether the width is used up is as good as random: no branch. */
static uint64_t dispatch(struct timing *t, struct front *f, uint32_t i,
			 bool zero)
{
	const struct timing_core *m = &t->core;
	uint64_t now = later(f->dispatch, f->next);

	if (i >= m->rob)
		now = later(now, t->at.commit[i - m->rob] + 1);
	if (!zero)
		now = cycle_queue_enter(&t->iq, now);
	now += (now == f->dispatch) & (f->dispatched >= m->width);
	f->dispatched = (f->dispatched & -(uint32_t)(now == f->dispatch)) + 1;
	f->dispatch = now;
	return now;
}

/* Sources that it does not have are itself: a time of an earlier trace. */
static uint64_t operands(const struct timing *t, const struct micro_uop *u,
			 uint32_t i)
{
	const uint64_t *done = &t->at.done[i];
	uint64_t when = later(*(done - u->source[0]), *(done - u->source[1]));

	for (int k = 2; k < u->sources; k++)
		when = later(when, *(done - u->source[k]));
	return when;
}

static struct found access_memory(struct timing *t, const struct micro_uop *u,
				  uint32_t i, uint64_t now)
{
	struct found x = { .done = now + t->core.latency[LEVEL_L1] };
	enum caches_level level;

	if (!u->access)
		return x;
	level = (enum caches_level)(t->level[i] & LEVELS_DATA_MASK);
	t->to->data[level]++;
	t->whole->whole[level]++;
	if (level != LEVEL_L1 || t->core.forwarding)
		return timing_access(t, i, level, now);
	t->at.line[i] = 0;
	if (!u->line)
		return x;
	t->at.line[i] = t->at.line[i - u->line];
	t->at.from[i] = t->at.from[i - u->line];
	if (t->at.line[i] > x.done) { /* it is on its way */
		x.done = t->at.line[i];
		x.level = (enum caches_level)t->at.from[i];
	}
	return x;
}

static inline __attribute__((always_inline)) void issue(
	struct timing *t, struct front *f, const struct micro_uop *u,
	struct cpi_life *life)
{
	uint64_t unit, now;

	if (t->ports)
		now = ports_reserve(t->ports, u->class, life->dispatch,
				    life->ready, &unit);
	else
		now = port_lanes_reserve(&t->lanes, u->class, life->dispatch,
					 life->ready, &unit);
	life->issue = now;
	life->unit = unit;
	f->last_issue = later(f->last_issue, now);
	cycle_queue_push(&t->iq, now);
}

static void load(struct timing *t, struct front *f, const struct micro_uop *u,
		 uint32_t i, struct cpi_life *life)
{
	const struct timing_core *m = &t->core;
	struct found x;

	if (u->forward && u->forward < m->rob)
		life->ready =
			later(life->ready, t->at.operands[i - u->forward]);
	life->ready = time_queue_enter(&t->loads, life->ready);
	issue(t, f, u, life);
	x = access_memory(t, u, i, life->issue);
	life->beyond = later(x.done, life->issue + m->latency[LEVEL_L1]) -
		       life->issue - m->latency[LEVEL_L1];
	life->bus = x.bus < life->beyond ? x.bus : life->beyond;
	life->level = x.level;
	life->done = x.done + m->uop[u->class].latency;
	if (u->flags & UOP_IS_VECTOR)
		life->done += m->vector_load_extra +
			      (x.held ? m->forwarding_vector : 0);
	time_queue_push(&t->loads, life->done);
}

/* When a store to a line of @level ends: the entries of their queue. */
static uint64_t store_end(uint64_t when, enum caches_level level)
{
	return when * STORE_END + level;
}

static void store(struct timing *t, struct front *f, const struct micro_uop *u,
		  uint32_t i, struct cpi_life *life)
{
	uint64_t ready = later(life->ready, f->last_issue), ended;
	struct found x = { 0 };

	ended = time_queue_enter(&t->stores, store_end(ready, LEVELS));
	life->ready = ended / STORE_END;
	f->queued = life->ready - ready;
	f->queued_for = (enum caches_level)(ended % STORE_END);
	issue(t, f, u, life);
	x.done = life->issue;
	if (u->access)
		x = access_memory(t, u, i, life->issue);
	t->at.ended[i] = x.done;
	time_queue_push(&t->stores, store_end(x.done, x.level));
	f->stores_done = later(f->stores_done, x.done);
	life->done = life->issue + t->core.uop[u->class].latency;
}

/* From its operands to its result. */
static void do_work(struct timing *t, struct front *f,
		    const struct micro_uop *u, uint32_t i,
		    struct cpi_life *life)
{
	t->at.operands[i] = operands(t, u, i);
	life->ready = later(life->dispatch + 1, t->at.operands[i]);
	if (u->flags & UOP_IS_BARRIER)
		life->ready = later(life->ready,
				    later(f->last_commit, f->stores_done));
	if (u->flags & (UOP_IS_LOAD | UOP_IS_STORE)) {
		life->ready = later(life->ready, f->barrier);
		if (u->flags & UOP_IS_LOAD)
			load(t, f, u, i, life);
		else
			store(t, f, u, i, life);
	} else {
		issue(t, f, u, life);
		life->done = life->issue + t->core.uop[u->class].latency;
	}
	if (u->flags & UOP_IS_BARRIER)
		f->barrier = life->issue;
}

static void commit(struct timing *t, struct front *f, uint32_t i,
		   const struct cpi_life *life)
{
	uint64_t now = later(life->done + 1, f->last_commit);

	f->slots += t->slot_share;
	if (now > f->last_commit && t->to != &t->warm) {
		const struct cpi_life kept = *life;
		double *to = &t->to->stack.cycles[CPI_DEPENDENCE], was = *to;

		t->to->stack.slots = f->slots;
		f->slots = 0;
		cpi_stack_charge(&t->to->stack, &kept, now - f->last_commit);
		if (f->queued)
			t->to->queued[f->queued_for] +=
				fmin(*to - was, (double)f->queued);
	}
	f->queued = 0;
	f->last_commit = now;
	t->at.done[i] = life->done;
	t->at.commit[i] = now;
}

static void execute(struct timing *t, struct front *f,
		    const struct micro_uop *u, uint32_t i)
{
	const struct timing_core *m = &t->core;
	bool zero = u->flags & UOP_IS_ZERO && m->zero_idioms;
	struct cpi_life life = { .before = f->dispatch };

	if (u->flags & MICRO_IS_DRAINED)
		f->dispatch = later(f->dispatch, f->last_commit);
	if (u->fetch)
		fetch(t, f, i);
	life.front = f->next > f->dispatch ? f->late : CPI_BASE;
	life.dispatch = dispatch(t, f, i, zero);
	if (zero)
		cpi_life_zero(&life);
	else
		do_work(t, f, u, i, &life);
	commit(t, f, i, &life);
	if (!(u->wrong >> m->predictor & 1))
		return;
	t->to->wrong++;
	f->next =
		later(life.issue + m->refill - DISPATCH_TO_RESULT, f->dispatch);
	f->late = CPI_BRANCH;
}

/* A core without micro-operations, at @now. Its older stores may go on. */
static struct front begin_at(struct timing *t, uint64_t now)
{
	cycle_queue_empty(&t->iq, now);
	time_queue_empty(&t->loads);
	t->other_next = (double)now;
	memory_bus_restart(t->bus, t->core.slot);
	t->begin = now;
	return (struct front){ .dispatch = now,
			       .last_commit = now,
			       .last_issue = now,
			       .stores_done = now,
			       .barrier = now };
}

/* An empty core, long after all that was timed before. */
static struct front begin(struct timing *t)
{
	time_queue_empty(&t->stores);
	time_queue_empty(&t->mshrs);
	return begin_at(t, t->end + APART);
}

static void count(struct timed *to, double uops, double cycles)
{
	to->uops += uops;
	to->cycles += cycles;
	to->squares[0] += cycles * cycles;
	to->squares[1] += cycles * uops;
	to->squares[2] += uops * uops;
	to->micros++;
}

/* How many stores are not over when the last micro-operation commits. */
static uint32_t stores_left(const struct timing *t, const struct front *f)
{
	const struct time_queue *q = &t->stores;
	uint64_t now = store_end(f->last_commit, LEVELS);
	uint32_t over = q->first;

	while (over < q->end && q->at[over] <= now)
		over++;
	return q->end - over;
}

/* Go on with the micro-trace @of where @f is, and count all but its begin. */
static void run(struct timing *t, const struct micro_trace *of, struct front *f,
		struct timed *to)
{
	uint32_t warm = of->uops / WARM_PART;
	uint64_t start = f->last_commit;

	t->to = &t->warm;
	t->whole = to;
	for (uint32_t i = 0; i < of->uops; i++) {
		if (i == warm) {
			t->to = to;
			f->slots = to->stack.slots;
			start = f->last_commit;
		}
		execute(t, f, &t->uop[i], i);
	}
	t->pass += of->uops;
	to->whole_uops += of->uops;
	to->stack.slots = f->slots;
	t->end = later(f->last_commit, f->stores_done);
	count(to, of->uops - warm, (double)(f->last_commit - start));
}

/*
 * A micro-trace begins with an empty core. Where stores come faster than they
 * end, their queue fills, and only then micro-operations wait. It is taken to
 * have been full before: the micro-trace is timed again, behind itself, until
 * no more stores are left at its end than the time before.
 */
void timing_run(struct timing *t, const struct workload_thread *thread,
		const struct micro_trace *of, const uint8_t *level,
		double written, struct timed *to)
{
	const struct timed before = *to;
	struct front f = begin(t), next;
	uint32_t left = PILED_UP - 1, now;

	f.slots = to->stack.slots;
	t->level = level;
	t->uop = &thread->uop[of->first];
	t->access = thread->access;
	t->written = written;
	t->first = t->pass;
	run(t, of, &f, to);
	for (int i = 1; i < TIMED_MAX; i++) {
		now = stores_left(t, &f);
		if (now <= left)
			return;
		left = now;
		*to = before;
		next = begin_at(t, f.last_commit + 1);
		next.stores_done = f.stores_done;
		next.slots = to->stack.slots;
		f = next;
		run(t, of, &f, to);
	}
}
