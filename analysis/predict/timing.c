/* SPDX-License-Identifier: MIT */
/*
 * timing - how long the micro-operations of a micro-trace take on a core
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cycle_queue.h"
#include "timing.h"
#include "analysis/base/util.h"
#include "analysis/model/memory_bus.h"
#include "analysis/model/ports.h"
#include "analysis/model/time_queue.h"

enum {
	DISPATCH_TO_RESULT = 2, /* of core.refill */
	APART = 1 << 16,        /* cycles between two micro-traces */
	WARM_PART = 4,          /* the first quarter is not counted */
};

/* The times of a micro-operation of the micro-trace. */
struct times {
	uint64_t operands; /* from when its own sources are there */
	uint64_t done, commit;
	uint64_t line; /* when a miss brings the line of its access; 0: none */
	uint64_t missed; /* when its access missed L1D; 0: it did not */
	enum caches_level from;
};

struct timing {
	struct timing_core core;
	struct ports *ports;
	struct memory_bus *bus;
	struct cycle_queue iq;
	struct time_queue loads, stores, mshrs;
	struct times at[MICRO_UOPS];

	/* The micro-trace that is timed. */
	const uint8_t *level;
	const struct micro_uop *uop;
	const struct micro_access *access; /* of the thread */
	double written, unwritten;         /* lines to write back */
	double others, other_next; /* transfers in a cycle, and the next */
	uint64_t begin;            /* when the bus begins */
	uint64_t dispatch, front, last_issue, stores_done, barrier;
	uint64_t last_commit;
	uint32_t dispatched;
	enum cpi_component late;
	struct timed *to; /* NULL: not counted yet */
	struct cpi_stack *stack, warm;
};

void timing_core_of(struct timing_core *c, const struct machine *m,
		    unsigned int used)
{
	uint64_t beyond = m->l1d.tag + m->l2.tag;
	uint64_t latency[LEVELS] = {
		[LEVEL_L1] = m->l1d.latency,
		[LEVEL_L2] = m->l1d.tag + m->l2.latency,
		[LEVEL_LLC] = beyond + m->llc.latency,
		[LEVEL_CORE] = beyond + m->llc.latency + m->transfer,
	};

	memset(c, 0, sizeof(*c));
	c->width = m->width;
	c->rob = m->rob;
	c->iq = m->iq;
	c->load_queue = m->load_queue;
	c->store_queue = m->store_queue;
	c->refill = m->refill;
	c->vector_load_extra = m->vector_load_extra;
	c->predictor = m->predictor;
	c->zero_idioms = m->zero_idioms;
	memcpy(c->uop, m->uop, sizeof(c->uop));
	if (used & ~(1u << LEVEL_L1)) {
		c->mshrs = m->mshrs;
		c->prefetcher = m->prefetcher;
	}
	if (c->prefetcher) /* lines that it fetched are there */
		used |= 1u << LEVEL_L2 | 1u << LEVEL_LLC;
	if (used >> LEVEL_MEMORY & 1) {
		c->slot = (1 << MACHINE_LINE_SHIFT) / m->memory_gbs * m->ghz;
		c->to_memory = beyond + m->llc.tag + m->directory;
		latency[LEVEL_MEMORY] = (uint64_t)llround(
			(double)c->to_memory + m->memory_ns * m->ghz + c->slot);
	}
	for (int i = 0; i < LEVELS; i++)
		if (used >> i & 1)
			c->latency[i] = latency[i];
}

static void set_up(struct timing *t, const struct machine *m)
{
	timing_core_of(&t->core, m, (1u << LEVELS) - 1);
	t->ports = ports_new(m);
	cycle_queue_init(&t->iq, m->iq);
	time_queue_init(&t->loads, m->load_queue);
	time_queue_init(&t->stores, m->store_queue);
	time_queue_init(&t->mshrs, m->mshrs);
	t->others = 0;
}

static void tear_down(struct timing *t)
{
	struct time_queue *queues[] = { &t->mshrs, &t->stores, &t->loads };

	for (size_t i = 0; i < sizeof(queues) / sizeof(*queues); i++)
		time_queue_release(queues[i]);
	cycle_queue_release(&t->iq);
	ports_free(t->ports);
}

struct timing *timing_new(const struct machine *m)
{
	struct timing *t = xcalloc(1, sizeof(*t));

	set_up(t, m);
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
	free(t->bus);
	free(t);
}

void timing_others(struct timing *t, double lines)
{
	t->others = lines;
}

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* How long a transfer waits that begins at @now. */
static uint64_t take_slot(struct timing *t, uint64_t now)
{
	return memory_bus_take(t->bus, now - t->begin);
}

/* Transfers of other cores up to @now, at equal distances. */
static void transfer_for_others(struct timing *t, uint64_t now)
{
	if (!(t->others > 0))
		return;
	for (; t->other_next < (double)now; t->other_next += 1 / t->others)
		take_slot(t, (uint64_t)t->other_next);
}

/* When what was asked for at @t arrives from memory; *@bus: the wait. */
static uint64_t ask_memory(struct timing *t, uint64_t now, uint64_t *bus)
{
	uint64_t done;

	transfer_for_others(t, now + t->core.to_memory);
	*bus = take_slot(t, now + t->core.to_memory);
	done = now + t->core.latency[LEVEL_MEMORY] + *bus;
	t->unwritten += t->written;
	if (t->unwritten >= 1) {
		t->unwritten -= 1;
		take_slot(t, done);
	}
	return done;
}

static void fetch(struct timing *t, uint32_t i)
{
	enum caches_level level =
		(enum caches_level)(t->level[i] >> LEVELS_CODE_SHIFT);
	uint64_t now = later(t->dispatch, t->front), bus;

	if (!t->uop[i].fetch)
		return;
	if (t->to)
		t->to->code[level]++;
	if (level == LEVEL_L1)
		return;
	t->front = level == LEVEL_MEMORY ? ask_memory(t, now, &bus)
					 : now + t->core.latency[level];
	t->late = CPI_ICACHE;
}

static uint64_t dispatch(struct timing *t, uint32_t i, bool zero)
{
	const struct timing_core *m = &t->core;
	uint64_t now = later(t->dispatch, t->front);

	if (i >= m->rob)
		now = later(now, t->at[i - m->rob].commit + 1);
	if (!zero)
		now = cycle_queue_enter(&t->iq, now);
	if (now == t->dispatch && t->dispatched >= m->width)
		now++;
	t->dispatched = now == t->dispatch ? t->dispatched + 1 : 1;
	t->dispatch = now;
	return now;
}

static uint64_t operands(const struct timing *t, uint32_t i)
{
	const struct micro_uop *u = &t->uop[i];
	uint64_t when = 0;

	for (int k = 0; k < u->sources; k++)
		when = later(when, t->at[i - u->source[k]].done);
	return when;
}

static uint64_t when_ready(struct timing *t, uint32_t i, uint64_t dispatched)
{
	const struct micro_uop *u = &t->uop[i];
	uint64_t when = later(dispatched + 1, t->at[i].operands);

	if (u->flags & UOP_IS_BARRIER)
		when = later(when, later(t->last_commit, t->stores_done));
	if (u->flags & (UOP_IS_LOAD | UOP_IS_STORE))
		when = later(when, t->barrier);
	if (u->flags & UOP_IS_LOAD) {
		if (u->forward && u->forward < t->core.rob)
			when = later(when, t->at[i - u->forward].operands);
		return time_queue_enter(&t->loads, when);
	}
	if (u->flags & UOP_IS_STORE)
		when = time_queue_enter(&t->stores, later(when, t->last_issue));
	return when;
}

/*
 * When the prefetcher asked for the line of @a, which the number @i needs @now;
 * 0: it did not. Before the micro-trace time went on as it does in it.
 */
static uint64_t asked_before(const struct timing *t, uint32_t i,
			     const struct micro_access *a, uint64_t now)
{
	uint32_t back = a->asked[t->core.prefetcher - 1];
	uint64_t cycles;

	if (back <= i)
		return back ? t->at[i - back].missed : 0;
	cycles = (now - t->begin) * back / (i + 1);
	return now - (cycles < APART ? cycles : APART);
}

/* When a line of @level is there that is asked for at @now. */
static uint64_t get(struct timing *t, enum caches_level level, uint64_t now,
		    uint64_t *bus)
{
	if (level == LEVEL_MEMORY && now >= t->begin)
		return ask_memory(t, now, bus);
	return now + t->core.latency[level];
}

/*
 * The same with a prefetcher, which puts lines into L2. What it asks for in
 * vain comes from where the line is that makes it ask. What L2 has lost since
 * is in the last cache, and was counted as in vain.
 */
static uint64_t get_prefetched(struct timing *t, uint32_t i,
			       enum caches_level level, uint64_t now,
			       uint64_t *bus)
{
	const struct micro_access *a = &t->access[t->uop[i].access - 1];
	uint32_t kind = t->core.prefetcher - 1;
	bool lost = a->asked[kind] == PREFETCH_FAR && level > LEVEL_L2;
	uint64_t asked = asked_before(t, i, a, now), done, late;
	int vain = level == LEVEL_MEMORY ? a->vain >> kind & 1 : 0;

	t->at[i].missed = now;
	if (lost)
		done = now + t->core.latency[LEVEL_LLC];
	else if (asked && level > LEVEL_L2)
		done = later(get(t, level, asked, bus),
			     now + t->core.latency[LEVEL_L2]);
	else
		done = get(t, level, now, bus);
	if (vain)
		take_slot(t, now + t->core.to_memory);
	late = now + t->core.latency[level];
	if (t->to && asked && late > done)
		t->to->saved[level] += (double)(late - done);
	if (t->to)
		t->to->vain += vain - (lost && level == LEVEL_MEMORY);
	return done;
}

/* Access memory at life->issue; returns when the line is there. */
static uint64_t access_memory(struct timing *t, uint32_t i,
			      struct cpi_life *life)
{
	const struct micro_uop *u = &t->uop[i];
	uint64_t now = life->issue, done = now + t->core.latency[LEVEL_L1],
		 bus = 0;
	enum caches_level level = LEVEL_L1;
	struct times line = { 0 };

	if (!u->access)
		return done;
	if (u->line)
		line = t->at[i - u->line];
	level = (enum caches_level)(t->level[i] & LEVELS_DATA_MASK);
	if (t->to)
		t->to->data[level]++;
	if (level != LEVEL_L1) {
		now = time_queue_enter(&t->mshrs, now);
		done = t->core.prefetcher
			       ? get_prefetched(t, i, level, now, &bus)
			       : get(t, level, now, &bus);
		time_queue_push(&t->mshrs, done);
		line = (struct times){ .line = done, .from = level };
	} else if (line.line > done) {
		done = line.line; /* it is on its way */
		level = line.from;
	}
	t->at[i].line = line.line;
	t->at[i].from = line.from;
	life->level = level;
	life->bus = bus;
	return done;
}

static void load(struct timing *t, uint32_t i, struct cpi_life *life)
{
	const struct timing_core *m = &t->core;
	uint64_t done = access_memory(t, i, life);

	life->beyond = done - life->issue - t->core.latency[LEVEL_L1];
	if (life->bus > life->beyond)
		life->bus = life->beyond;
	life->done = done + m->uop[t->uop[i].class].latency;
	if (t->uop[i].flags & UOP_IS_VECTOR)
		life->done += m->vector_load_extra;
	time_queue_push(&t->loads, life->done);
}

static void store(struct timing *t, uint32_t i, struct cpi_life *life)
{
	uint64_t done =
		t->uop[i].access ? access_memory(t, i, life) : life->issue;

	time_queue_push(&t->stores, done);
	t->stores_done = later(t->stores_done, done);
	life->done = life->issue + t->core.uop[t->uop[i].class].latency;
	life->level = LEVEL_L1;
	life->bus = 0;
}

static void commit(struct timing *t, uint32_t i, const struct cpi_life *life)
{
	uint64_t now = later(life->done + 1, t->last_commit);

	t->stack->slots += 1.0 / t->core.width;
	if (now > t->last_commit)
		cpi_stack_charge(t->stack, life, now - t->last_commit);
	t->last_commit = now;
	t->at[i].done = life->done;
	t->at[i].commit = now;
}

/* From its operands to its result. */
static void do_work(struct timing *t, uint32_t i, struct cpi_life *life)
{
	const struct micro_uop *u = &t->uop[i];

	t->at[i].operands = operands(t, i);
	life->ready = when_ready(t, i, life->dispatch);
	life->issue = ports_reserve(t->ports, u->class, life->dispatch,
				    life->ready, &life->unit);
	t->last_issue = later(t->last_issue, life->issue);
	cycle_queue_push(&t->iq, life->issue);
	if (u->flags & UOP_IS_BARRIER)
		t->barrier = life->issue;
	if (u->flags & UOP_IS_LOAD)
		load(t, i, life);
	else if (u->flags & UOP_IS_STORE)
		store(t, i, life);
	else
		life->done = life->issue + t->core.uop[u->class].latency;
}

static void execute(struct timing *t, uint32_t i)
{
	const struct timing_core *m = &t->core;
	const struct micro_uop *u = &t->uop[i];
	bool zero = u->flags & UOP_IS_ZERO && m->zero_idioms;
	struct cpi_life life = { .before = t->dispatch };

	if (u->flags & MICRO_IS_DRAINED)
		t->dispatch = later(t->dispatch, t->last_commit);
	fetch(t, i);
	life.front = t->front > t->dispatch ? t->late : CPI_BASE;
	life.dispatch = dispatch(t, i, zero);
	t->at[i] = (struct times){ 0 };
	if (zero)
		cpi_life_zero(&life);
	else
		do_work(t, i, &life);
	commit(t, i, &life);
	if (!(u->wrong >> m->predictor & 1))
		return;
	if (t->to)
		t->to->wrong++;
	t->front =
		later(life.issue + m->refill - DISPATCH_TO_RESULT, t->dispatch);
	t->late = CPI_BRANCH;
}

/* An empty core, long after all that was timed before. */
static void begin(struct timing *t)
{
	uint64_t now = later(t->last_commit, t->stores_done) + APART;

	cycle_queue_empty(&t->iq, now);
	time_queue_empty(&t->loads);
	time_queue_empty(&t->stores);
	time_queue_empty(&t->mshrs);
	t->dispatch = t->last_commit = t->last_issue = now;
	t->stores_done = t->barrier = now;
	t->front = 0;
	t->dispatched = 0;
	t->other_next = (double)now;
	memory_bus_restart(t->bus, t->core.slot);
	t->begin = now;
	t->to = NULL;
	t->stack = &t->warm;
}

double timed_saved(const struct timed *t, enum caches_level level)
{
	return t->data[level] > 0 ? t->saved[level] / t->data[level] : 0;
}

double timed_vain(const struct timed *t)
{
	double lines = t->data[LEVEL_MEMORY];

	return lines > 0 ? t->vain / lines : 0;
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

void timing_run(struct timing *t, const struct workload_thread *thread,
		const struct micro_trace *of, const uint8_t *level,
		double written, struct timed *to)
{
	uint32_t warm = of->uops / WARM_PART;
	uint64_t start;

	t->level = level;
	t->uop = &thread->uop[of->first];
	t->access = thread->access;
	t->written = written;
	begin(t);
	start = t->last_commit;
	for (uint32_t i = 0; i < of->uops; i++) {
		if (i == warm) {
			t->to = to;
			t->stack = &to->stack;
			start = t->last_commit;
		}
		execute(t, i);
	}
	count(to, of->uops - warm, (double)(t->last_commit - start));
}
