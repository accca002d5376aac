/* SPDX-License-Identifier: MIT */
/*
 * core - one out-of-order core, a time for each step of each micro-operation
 */
#include <stdlib.h>

#include "core.h"
#include "forward.h"
#include "ports.h"
#include "predictor.h"
#include "time_queue.h"
#include "analysis/base/util.h"

enum {
	/* Of core.refill: from the dispatch of what follows to its result. */
	DISPATCH_TO_RESULT = 2,
};

struct core {
	const struct machine *machine;
	struct caches *caches;
	struct misses *misses; /* who wants to know of them, or NULL */
	uint64_t ip;
	struct predictor *predictor;
	struct ports *ports;
	struct forward *forward;
	uint32_t id;

	uint64_t dispatch;       /* the cycle of the latest dispatch */
	uint32_t dispatched;     /* in that cycle */
	uint64_t front;          /* nothing is dispatched before this cycle */
	enum cpi_component late; /* why */
	uint64_t line;           /* of the latest instruction */
	uint64_t number;         /* of micro-operations so far */
	uint64_t *committed;     /* ring of core.rob */
	uint32_t at;             /* there: of the next micro-operation */
	double slot;             /* of a cycle, that a micro-operation needs */
	uint64_t last_commit;
	uint64_t ready[UOP_REGISTERS];
	uint64_t last_issue; /* the latest of all so far */
	uint64_t stores_done;
	uint64_t barrier; /* no access of memory is issued before */
	struct time_queue iq, loads, stores;
	struct core_account *account;
	struct core_fetches *fetches; /* or NULL, as the next */
	struct forecast *forecast;
};

/* The accesses of an instruction. */
struct accesses {
	const struct trace_access *access;
	size_t n;
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

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void note_fetch(struct core *c, double cycles)
{
	if (!c->fetches)
		return;
	c->account->fetching += cycles;
	c->fetches->cycles += cycles / c->fetches->running;
}

static void fetch_line(struct core *c, uint64_t line)
{
	uint64_t t = later(c->dispatch, c->front);
	struct caches_answer a;

	if (line == c->line)
		return;
	c->line = line;
	a = caches_access(c->caches, c->id, line, CACHES_FETCH, t);
	if (a.done > t) {
		c->front = a.done;
		c->late = CPI_ICACHE;
		if (a.fills)
			note_fetch(c, (double)(a.done - t));
	}
}

static void fetch(struct core *c, const struct trace_insn *insn)
{
	fetch_line(c, insn->ip >> MACHINE_LINE_SHIFT);
	fetch_line(c, (insn->ip + insn->bytes - 1) >> MACHINE_LINE_SHIFT);
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

/* The address of the first load or store; NULL if it makes none. */
static const struct trace_access *first_access(const struct accesses *all,
					       bool store)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->access[i].store == store)
			return &all->access[i];
	return NULL;
}

/* The cycle from which the operands of @u are there. */
static uint64_t operands(const struct core *c, const struct uop *u, uint64_t t)
{
	for (int i = 0; i < u->sources; i++)
		t = later(t, c->ready[u->source[i]]);
	return t;
}

/* The cycle from which @u can issue, but for a port. */
static uint64_t when_ready(struct core *c, const struct uop *u,
			   const struct trace_access *a, uint64_t dispatched)
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
		t = later(t, forward_ready(c->forward, a->addr, c->number));
	return time_queue_enter(&c->loads, t);
}

static struct caches_answer access_line(struct core *c,
					const struct trace_access *a,
					uint64_t t)
{
	if (c->misses)
		misses_at(c->misses, c->ip, a->addr);
	return caches_access(c->caches, c->id, a->addr >> MACHINE_LINE_SHIFT,
			     a->store ? CACHES_STORE : CACHES_LOAD, t);
}

/*
 * Access the line of @first, and those of the instruction's other accesses of
 * this kind, all at once.
 */
static struct caches_answer access_memory(struct core *c,
					  const struct accesses *all,
					  const struct trace_access *first,
					  uint64_t t)
{
	uint64_t line = first->addr >> MACHINE_LINE_SHIFT;
	struct caches_answer answer = access_line(c, first, t);

	for (const struct trace_access *a = first + 1; a < all->access + all->n;
	     a++) {
		struct caches_answer other;

		if (a->store != first->store ||
		    a->addr >> MACHINE_LINE_SHIFT == line)
			continue;
		line = a->addr >> MACHINE_LINE_SHIFT;
		other = access_line(c, a, t);
		if (other.done > answer.done)
			answer = other;
	}
	return answer;
}

/* Data of a load, @ahead instructions from here, come from @answer. */
static void foresee(struct core *c, uint32_t ahead,
		    const struct caches_answer *answer)
{
	if (c->forecast)
		forecast_load(c->forecast, ahead, c->machine->rob,
			      answer->beyond);
}

static void load(struct core *c, const struct uop *u,
		 const struct accesses *all, const struct trace_access *a,
		 struct cpi_life *life)
{
	c->account->counts.loads++;
	life->done = life->issue + c->machine->l1d.latency;
	if (a) {
		struct caches_answer answer =
			access_memory(c, all, a, life->issue);

		life->beyond = later(answer.done, life->done) - life->done;
		life->done = answer.done;
		life->level = answer.level;
		foresee(c, 0, &answer);
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
		done = access_memory(c, all, a, life->issue).done;
		forward_store(c->forward, a->addr, c->number,
			      operands(c, u, 0));
	}
	time_queue_push(&c->stores, done);
	c->stores_done = later(c->stores_done, done);
	life->done = life->issue + c->machine->uop[u->class].latency;
}

/* Predict the branch; true if that was right. */
static bool predict(struct core *c, const struct trace_insn *insn,
		    uint64_t next_ip)
{
	bool taken = next_ip && next_ip != insn->ip + insn->bytes;
	bool right = predictor_right(c->predictor, insn->ip, taken);

	c->account->counts.branches++;
	c->account->counts.mispredicted += !right;
	if (c->forecast && !right)
		c->forecast->waits += c->machine->refill;
	return right;
}

static void branch(struct core *c, const struct trace_insn *insn,
		   uint64_t next_ip, uint64_t issue)
{
	uint64_t restart = issue + c->machine->refill - DISPATCH_TO_RESULT;

	if (predict(c, insn, next_ip))
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
		memory ? first_access(all, u->flags & UOP_IS_STORE) : NULL;

	life->ready = when_ready(c, u, a, life->dispatch);
	life->issue = ports_reserve(c->ports, u->class, life->dispatch,
				    life->ready, &life->unit);
	time_queue_push(&c->iq, life->issue);
	c->last_issue = later(c->last_issue, life->issue);
	if (u->flags & UOP_IS_BARRIER)
		c->barrier = life->issue;
	if (u->flags & UOP_IS_LOAD)
		load(c, u, all, a, life);
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

static void count(struct core *c, const struct uop_insn *decoded)
{
	if (c->forecast)
		c->forecast->at += decoded->uops;
	c->account->counts.instructions++;
	c->account->counts.uops += decoded->uops;
	c->account->counts.unknown += !decoded->known;
}

void core_execute(struct core *c, const struct trace_insn *insn,
		  const struct trace_access *access, size_t n, uint64_t next_ip)
{
	const struct uop_insn *decoded = &insn->decoded;
	struct accesses all = { access, n };

	c->ip = insn->ip;
	fetch(c, insn);
	for (int i = 0; i < decoded->uops; i++) {
		const struct uop *u = &decoded->uop[i];
		uint64_t issue = execute(c, u, &all);

		if (u->flags & UOP_IS_BRANCH)
			branch(c, insn, next_ip, issue);
	}
	count(c, decoded);
}

static void begin_at(struct core *c, uint64_t t)
{
	c->last_commit = later(c->last_commit, t);
	c->dispatch = later(c->dispatch, t);
	c->front = later(c->front, t);
}

static void warm(struct core *c, const struct uop *u,
		 const struct accesses *all)
{
	const struct trace_access *a =
		first_access(all, u->flags & UOP_IS_STORE);
	struct caches_answer answer;

	c->account->counts.loads += !!(u->flags & UOP_IS_LOAD);
	c->account->counts.stores += !!(u->flags & UOP_IS_STORE);
	if (a) {
		answer = access_memory(c, all, a, c->dispatch);
		if (!a->store)
			foresee(c, 0, &answer);
	}
}

void core_warm(struct core *c, const struct trace_insn *insn,
	       const struct trace_access *access, size_t n, uint64_t next_ip,
	       uint64_t t)
{
	const struct uop_insn *decoded = &insn->decoded;
	struct accesses all = { access, n };

	c->ip = insn->ip;
	c->front = c->dispatch;
	fetch(c, insn);
	for (int i = 0; i < decoded->uops; i++) {
		const struct uop *u = &decoded->uop[i];

		if (u->flags & (UOP_IS_LOAD | UOP_IS_STORE))
			warm(c, u, &all);
		if (u->flags & UOP_IS_BRANCH)
			predict(c, insn, next_ip);
	}
	count(c, decoded);
	c->front = c->dispatch;
	begin_at(c, t);
}

/* The accesses of a block; of an instruction, those to new lines. */
static void warm_accesses(struct core *c, const struct trace_insn *insn,
			  const struct trace_step *step)
{
	const struct trace_access *last = NULL, *a = step->access;

	for (; a < step->access + step->accesses; a++) {
		int kind = a->store ? UOP_IS_STORE : UOP_IS_LOAD;

		if (!(insn[a->index].flags & kind))
			continue;
		if (!last || last->index != a->index ||
		    last->store != a->store ||
		    (last->addr ^ a->addr) >> MACHINE_LINE_SHIFT) {
			struct caches_answer answer =
				access_line(c, a, c->dispatch);

			if (!a->store)
				foresee(c, a->index, &answer);
		}
		last = a;
	}
}

void core_warm_block(struct core *c, const struct trace *trace,
		     const struct trace_step *step, uint64_t t)
{
	const struct trace_block *b = step->block;
	const struct trace_insn *insn = &trace->insn[b->first];
	struct core_counts *n = &c->account->counts;

	c->front = c->dispatch;
	for (uint64_t line = b->ip >> MACHINE_LINE_SHIFT;
	     line <= (b->end - 1) >> MACHINE_LINE_SHIFT; line++)
		fetch_line(c, line);
	warm_accesses(c, insn, step);
	if (b->branch)
		predict(c, &insn[b->insns - 1], step->next_ip);
	n->instructions += b->insns;
	n->uops += b->uops;
	if (c->forecast)
		c->forecast->at += b->uops;
	n->loads += b->loads;
	n->stores += b->stores;
	c->front = c->dispatch;
	begin_at(c, t);
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
	begin_at(c, t);
}

void core_switch(struct core *c, struct core_account *account, uint64_t t)
{
	if (c->account != account)
		c->line = UINT64_MAX;
	c->account = account;
	begin_at(c, t);
}
