/* SPDX-License-Identifier: MIT */
/*
 * core - one out-of-order core, a time for each step of each micro-operation
 */
#include <stdlib.h>

#include "core_internal.h"
#include "analysis/base/util.h"

enum {
	/* Of core.refill: from the dispatch of what follows to its result. */
	DISPATCH_TO_RESULT = 2,
};

struct core *core_new(const struct machine *m, struct caches *caches,
		      struct misses *misses, uint32_t id)
{
	struct core *c = xcalloc(1, sizeof(*c));

	c->machine = m;
	c->caches = caches;
	c->misses = misses;
	c->id = id;
	c->predictor = predictor_new((enum machine_predictor)m->predictor);
	c->ports = ports_new(m);
	c->forward = forward_new(m->rob);
	c->committed = xcalloc(m->rob, sizeof(*c->committed));
	c->slot = 1.0 / m->width;
	c->line = UINT64_MAX;
	time_queue_init(&c->iq, m->iq);
	time_queue_init(&c->loads, m->load_queue);
	time_queue_init(&c->stores, m->store_queue);
	return c;
}

void core_free(struct core *c)
{
	time_queue_release(&c->iq);
	time_queue_release(&c->loads);
	time_queue_release(&c->stores);
	ports_free(c->ports);
	free(c->forward);
	free(c->committed);
	predictor_free(c->predictor);
	free(c);
}

void core_note(struct core *c, struct core_fetches *to, struct forecast *f)
{
	c->fetches = to;
	c->forecast = f;
}

/* @zero: it needs no entry of the issue queue. */
static uint64_t dispatch(struct core *c, bool zero)
{
	uint64_t t = later(c->dispatch, c->front);

	if (c->number >= c->machine->rob)
		t = later(t, c->committed[c->at] + 1);
	if (!zero)
		t = time_queue_enter(&c->iq, t);
	if (t == c->dispatch && c->dispatched >= c->machine->width)
		t++;
	if (t != c->dispatch) {
		c->dispatch = t;
		c->dispatched = 0;
	}
	c->dispatched++;
	return t;
}

/* The cycle from which the operands of @u are there. */
static uint64_t operands(const struct core *c, const struct uop *u, uint64_t t)
{
	for (int i = 0; i < u->sources; i++)
		t = later(t, c->ready[u->source[i]]);
	return t;
}

/*
 * The cycle from which @u can issue, but for a port. *@held: until when a store
 * holds what it loads.
 */
static uint64_t when_ready(struct core *c, const struct uop *u,
			   const struct trace_access *a, uint64_t dispatched,
			   uint64_t *held)
{
	uint64_t t = operands(c, u, dispatched + 1);

	if (u->flags & UOP_IS_BARRIER)
		t = later(t, later(c->last_commit, c->stores_done));
	if (!(u->flags & (UOP_IS_LOAD | UOP_IS_STORE)))
		return t;
	t = later(t, c->barrier);
	if (u->flags & UOP_IS_STORE)
		return time_queue_enter(&c->stores, later(t, c->last_issue));
	if (a)
		t = later(t,
			  forward_ready(c->forward, a->addr, c->number, held));
	return time_queue_enter(&c->loads, t);
}

/* @held: a store has its data. */
static void load(struct core *c, const struct uop *u,
		 const struct accesses *all, const struct trace_access *a,
		 bool held, struct cpi_life *life)
{
	c->account->counts.loads++;
	life->done = life->issue + c->machine->l1d.latency;
	if (held) {
		life->done = life->issue + c->machine->forwarding;
		if (u->flags & UOP_IS_VECTOR)
			life->done += c->machine->forwarding_vector;
	} else if (a) {
		struct caches_answer answer =
			core_access_memory(c, all, a, life->issue);

		life->beyond = later(answer.done, life->done) - life->done;
		life->done = answer.done;
		life->level = answer.level;
		core_foresee(c, 0, &answer);
		life->bus =
			answer.bus < life->beyond ? answer.bus : life->beyond;
	}
	life->done += c->machine->uop[u->class].latency;
	if (u->flags & UOP_IS_VECTOR)
		life->done += c->machine->vector_load_extra;
	time_queue_push(&c->loads, life->done);
}

static void store(struct core *c, const struct uop *u,
		  const struct accesses *all, const struct trace_access *a,
		  struct cpi_life *life)
{
	uint64_t done = life->issue;

	c->account->counts.stores++;
	if (a) {
		done = core_access_memory(c, all, a, life->issue).done;
		forward_store(c->forward, a->addr, c->number, operands(c, u, 0),
			      done);
	}
	time_queue_push(&c->stores, done);
	c->stores_done = later(c->stores_done, done);
	life->done = life->issue + c->machine->uop[u->class].latency;
}

static void branch(struct core *c, const struct trace_insn *insn,
		   uint64_t next_ip, uint64_t issue)
{
	uint64_t restart = issue + c->machine->refill - DISPATCH_TO_RESULT;

	if (core_predict(c, insn, next_ip))
		return;
	c->front = later(restart, c->dispatch);
	c->late = CPI_BRANCH;
}

static void commit(struct core *c, const struct cpi_life *life)
{
	uint64_t t = later(life->done + 1, c->last_commit);

	c->account->stack.slots += c->slot;
	if (t > c->last_commit)
		cpi_stack_charge(&c->account->stack, life, t - c->last_commit);
	c->last_commit = t;
	c->committed[c->at] = t;
	c->at = c->at + 1 < c->machine->rob ? c->at + 1 : 0;
	c->number++;
}

/* From its operands to its result. */
static void do_work(struct core *c, const struct uop *u,
		    const struct accesses *all, struct cpi_life *life)
{
	const struct machine_uop *costs = &c->machine->uop[u->class];
	bool memory = u->flags & (UOP_IS_LOAD | UOP_IS_STORE);
	const struct trace_access *a =
		memory ? core_first_access(all, u->flags & UOP_IS_STORE) : NULL;
	uint64_t held = 0;

	life->ready = when_ready(c, u, a, life->dispatch, &held);
	life->issue = ports_reserve(c->ports, u->class, life->dispatch,
				    life->ready, &life->unit);
	time_queue_push(&c->iq, life->issue);
	c->last_issue = later(c->last_issue, life->issue);
	if (u->flags & UOP_IS_BARRIER)
		c->barrier = life->issue;
	if (u->flags & UOP_IS_LOAD)
		load(c, u, all, a, c->machine->forwarding && life->issue < held,
		     life);
	else if (u->flags & UOP_IS_STORE)
		store(c, u, all, a, life);
	else
		life->done = life->issue + costs->latency;
}

static uint64_t execute(struct core *c, const struct uop *u,
			const struct accesses *all)
{
	bool zero = u->flags & UOP_IS_ZERO && c->machine->zero_idioms;
	struct cpi_life life = { .before = c->dispatch };

	life.front = c->front > c->dispatch ? c->late : CPI_BASE;
	life.dispatch = dispatch(c, zero);
	if (zero)
		cpi_life_zero(&life);
	else
		do_work(c, u, all, &life);
	for (int i = 0; i < u->results; i++)
		c->ready[u->result[i]] = life.done;
	commit(c, &life);
	return life.issue;
}

void core_execute(struct core *c, const struct trace_insn *insn,
		  const struct trace_access *access, size_t n, uint64_t next_ip)
{
	const struct uop_insn *decoded = &insn->decoded;
	struct accesses all = { access, n };

	c->ip = insn->ip;
	core_fetch(c, insn);
	for (int i = 0; i < decoded->uops; i++) {
		const struct uop *u = &decoded->uop[i];
		uint64_t issue = execute(c, u, &all);

		if (u->flags & UOP_IS_BRANCH)
			branch(c, insn, next_ip, issue);
	}
	core_count(c, decoded);
}

uint64_t core_now(const struct core *c)
{
	return c->dispatch;
}

uint64_t core_end(const struct core *c)
{
	return c->last_commit;
}

void core_sleep(struct core *c, uint64_t t)
{
	if (t > c->last_commit)
		c->account->stack.cycles[CPI_SYNC] +=
			(double)(t - c->last_commit);
	core_begin_at(c, t);
}

void core_switch(struct core *c, struct core_account *account, uint64_t t)
{
	if (c->account != account)
		c->line = UINT64_MAX;
	c->account = account;
	core_begin_at(c, t);
}
