/* SPDX-License-Identifier: MIT */
/*
 * slow_core - the core of docs/simulate.md, written to be obvious
 *
 * All micro-operations of a thread are kept with their times. What an earlier
 * one did is found by looking at all of them; whether one more fits the ports
 * of a cycle, by trying all ways to place those that issue in it.
 */
#ifndef COMDET_SLOW_CORE_H
#define COMDET_SLOW_CORE_H

#include "analysis/model/trace.h"
#include "tests/oracle/slow_caches.h"

enum {
	SLOW_UOPS = 128
};

struct slow_uop {
	const struct uop *u;
	bool zero;     /* nothing is left to do once it is dispatched */
	uint64_t addr; /* of its access; 0: none */
	uint64_t dispatch, ready, issue, done, commit;
	uint64_t ended; /* of a store: its access */
};

struct slow_branch {
	uint64_t ip;
	bool taken;
};

struct slow_core {
	struct slow_caches *caches;
	int id;
	struct slow_uop uop[SLOW_UOPS];
	int uops;
	struct slow_branch branch[SLOW_UOPS];
	int branches, mispredicted;
	uint64_t front, line;
	bool fetched;
	struct slow_queue loads, stores;
};

static inline uint64_t slow_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t slow_now(const struct slow_core *c)
{
	return c->uops ? c->uop[c->uops - 1].dispatch : 0;
}

static inline uint64_t slow_end(const struct slow_core *c)
{
	return c->uops ? c->uop[c->uops - 1].commit : 0;
}

static inline void slow_fetch(struct slow_core *c, uint64_t line)
{
	uint64_t t = slow_later(slow_now(c), c->front), done;

	if (c->fetched && line == c->line)
		return;
	c->fetched = true;
	c->line = line;
	done = slow_access(c->caches, c->id, line, false, true, t);
	if (done > t)
		c->front = done;
}

/* True if the number @i can be dispatched at @t. */
static inline bool slow_can_dispatch(const struct slow_core *c, int i,
				     uint64_t t)
{
	const struct machine *m = c->caches->m;
	uint32_t now = 0, waiting = 0;

	if (i >= (int)m->rob && t <= c->uop[i - (int)m->rob].commit)
		return false;
	for (int k = 0; k < i; k++) {
		now += c->uop[k].dispatch == t;
		waiting += !c->uop[k].zero && c->uop[k].issue > t;
	}
	return now < m->width && (waiting < m->iq || c->uop[i].zero);
}

/* When the operands of number @i, as its predecessors left them, are there. */
static inline uint64_t slow_operands(const struct slow_core *c, int i)
{
	const struct uop *u = c->uop[i].u;
	uint64_t t = 0;

	for (int s = 0; s < u->sources; s++)
		for (int k = i - 1; k >= 0; k--) {
			const struct uop *from = c->uop[k].u;
			bool writes = false;

			for (int r = 0; r < from->results; r++)
				writes |= from->result[r] == u->source[s];
			if (writes) {
				t = slow_later(t, c->uop[k].done);
				break;
			}
		}
	return t;
}

/* The store from which number @i, a load, takes its data; NULL: none. */
static inline const struct slow_uop *slow_source(const struct slow_core *c,
						 int i)
{
	for (int k = i - 1; k >= 0 && i - k < (int)c->caches->m->rob; k--)
		if (c->uop[k].u->flags & UOP_IS_STORE && c->uop[k].addr &&
		    c->uop[k].addr / 8 == c->uop[i].addr / 8)
			return &c->uop[k];
	return NULL;
}

static inline uint64_t slow_forwarded(const struct slow_core *c, int i)
{
	const struct slow_uop *from = slow_source(c, i);

	return from ? slow_operands(c, (int)(from - c->uop)) : 0;
}

/* That store has not yet given the data away. */
static inline bool slow_is_held(const struct slow_core *c, int i)
{
	const struct slow_uop *from =
		c->uop[i].u->flags & UOP_IS_LOAD && c->uop[i].addr
			? slow_source(c, i)
			: NULL;

	return c->caches->m->forwarding && from &&
	       c->uop[i].issue < from->ended;
}

static inline uint64_t slow_ready(struct slow_core *c, int i)
{
	struct slow_uop *x = &c->uop[i];
	const struct machine *m = c->caches->m;
	uint64_t t = slow_later(x->dispatch + 1, slow_operands(c, i));
	bool memory = x->u->flags & (UOP_IS_LOAD | UOP_IS_STORE);

	for (int k = 0; k < i; k++) {
		const struct slow_uop *before = &c->uop[k];

		if (x->u->flags & UOP_IS_BARRIER)
			t = slow_later(
				t, slow_later(before->commit, before->ended));
		if (memory && before->u->flags & UOP_IS_BARRIER)
			t = slow_later(t, before->issue);
		if (x->u->flags & UOP_IS_STORE)
			t = slow_later(t, before->zero ? 0 : before->issue);
	}
	if (x->u->flags & UOP_IS_LOAD) {
		if (x->addr)
			t = slow_later(t, slow_forwarded(c, i));
		return slow_enter(&c->loads, (int)m->load_queue, t);
	}
	if (x->u->flags & UOP_IS_STORE)
		return slow_enter(&c->stores, (int)m->store_queue, t);
	return t;
}

/* Can all of the @n sets of ports have a port of their own beside @taken? */
static inline bool slow_ports_fit(const uint32_t *ports, int n, uint32_t taken)
{
	if (!n)
		return true;
	for (int p = 0; p < MACHINE_PORTS; p++)
		if (ports[0] & ~taken & 1u << p &&
		    slow_ports_fit(ports + 1, n - 1, taken | 1u << p))
			return true;
	return false;
}

static inline uint64_t slow_issue(const struct slow_core *c, int i)
{
	const struct machine *m = c->caches->m;
	const struct machine_uop *costs = &m->uop[c->uop[i].u->class];
	uint64_t t = c->uop[i].ready;

	for (int k = 0; k < i; k++) {
		uint32_t busy = m->uop[c->uop[k].u->class].busy;

		if (costs->busy && busy)
			t = slow_later(t, c->uop[k].issue + busy);
	}
	for (;; t++) {
		uint32_t ports[MACHINE_PORTS + 2];
		int n = 0;

		ports[n++] = costs->ports;
		for (int k = 0; k < i; k++)
			if (c->uop[k].issue == t && !c->uop[k].zero)
				ports[n++] = m->uop[c->uop[k].u->class].ports;
		if (slow_ports_fit(ports, n, 0))
			return t;
	}
}

static inline void slow_do(struct slow_core *c, int i)
{
	const struct machine *m = c->caches->m;
	struct slow_uop *x = &c->uop[i];
	uint32_t latency = m->uop[x->u->class].latency;
	bool store = x->u->flags & UOP_IS_STORE;
	bool held = slow_is_held(c, i);
	uint64_t done = x->issue;

	if (held)
		done = x->issue + m->forwarding;
	else if (x->u->flags & (UOP_IS_LOAD | UOP_IS_STORE) && x->addr)
		done = slow_access(c->caches, c->id, x->addr / 64, store, false,
				   x->issue);
	else if (x->u->flags & UOP_IS_LOAD)
		done = x->issue + m->l1d.latency;
	x->done = (store ? x->issue : done) + latency;
	if (x->zero)
		x->done = x->dispatch;
	if (store) {
		x->ended = done;
		slow_leave(&c->stores, done);
	}
	if (x->u->flags & UOP_IS_LOAD) {
		if (x->u->flags & UOP_IS_VECTOR)
			x->done += m->vector_load_extra +
				   (held ? m->forwarding_vector : 0);
		slow_leave(&c->loads, x->done);
	}
	x->commit = x->done + 1;
	if (i)
		x->commit = slow_later(x->commit, c->uop[i - 1].commit);
}

/* The last outcome of a branch with the same lowest bits of its address. */
static inline bool slow_predicted(const struct slow_core *c, uint64_t ip)
{
	for (int k = c->branches - 1; k >= 0; k--)
		if (c->branch[k].ip % 1024 == ip % 1024)
			return c->branch[k].taken;
	return false;
}

static inline void slow_branch(struct slow_core *c, int i, uint64_t ip,
			       bool taken)
{
	bool perfect = c->caches->m->predictor == PREDICTOR_PERFECT;

	if (!perfect && slow_predicted(c, ip) != taken) {
		c->mispredicted++;
		c->front =
			slow_later(c->uop[i].issue + c->caches->m->refill - 2,
				   c->uop[i].dispatch);
	}
	c->branch[c->branches++] = (struct slow_branch){ ip, taken };
}

/* Execute an instruction; its accesses are at @load and @store, if any. */
static inline void slow_execute(struct slow_core *c,
				const struct trace_insn *insn, uint64_t load,
				uint64_t store, bool taken)
{
	slow_fetch(c, insn->ip / 64);
	slow_fetch(c, (insn->ip + insn->bytes - 1) / 64);
	for (int n = 0; n < insn->decoded.uops; n++) {
		int i = c->uops;
		struct slow_uop *x = &c->uop[i];

		ck_assert_int_lt(i, SLOW_UOPS);
		*x = (struct slow_uop){ .u = &insn->decoded.uop[n] };
		x->zero =
			x->u->flags & UOP_IS_ZERO && c->caches->m->zero_idioms;
		if (x->u->flags & UOP_IS_LOAD)
			x->addr = load;
		if (x->u->flags & UOP_IS_STORE)
			x->addr = store;
		x->dispatch = slow_later(slow_now(c), c->front);
		while (!slow_can_dispatch(c, i, x->dispatch))
			x->dispatch++;
		x->ready = x->issue = x->dispatch + 1;
		if (!x->zero) {
			x->ready = slow_ready(c, i);
			x->issue = slow_issue(c, i);
		}
		slow_do(c, i);
		c->uops++;
		if (x->u->flags & UOP_IS_BRANCH)
			slow_branch(c, i, insn->ip, taken);
	}
	slow_caches_check(c->caches);
}

#endif
