/* SPDX-License-Identifier: MIT */
/*
 * core_internal - what executing and warming a core share
 */
#ifndef COMDET_ANALYSIS_MODEL_CORE_INTERNAL_H
#define COMDET_ANALYSIS_MODEL_CORE_INTERNAL_H

#include "core.h"
#include "forward.h"
#include "ports.h"
#include "predictor.h"
#include "time_queue.h"

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

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline void core_note_fetch(struct core *c, double cycles)
{
	if (!c->fetches)
		return;
	c->account->fetching += cycles;
	c->fetches->cycles += cycles / c->fetches->running;
}

static inline void core_fetch_line(struct core *c, uint64_t line)
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
			core_note_fetch(c, (double)(a.done - t));
	}
}

static inline void core_fetch(struct core *c, const struct trace_insn *insn)
{
	core_fetch_line(c, insn->ip >> MACHINE_LINE_SHIFT);
	core_fetch_line(c, (insn->ip + insn->bytes - 1) >> MACHINE_LINE_SHIFT);
}

/* The address of the first load or store; NULL if it makes none. */
static inline const struct trace_access *core_first_access(
	const struct accesses *all, bool store)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->access[i].store == store)
			return &all->access[i];
	return NULL;
}

static inline struct caches_answer core_access_line(
	struct core *c, const struct trace_access *a, uint64_t t)
{
	if (c->misses)
		misses_at(c->misses, c->ip, a->addr);
	caches_at(c->caches, c->ip);
	return caches_access(c->caches, c->id, a->addr >> MACHINE_LINE_SHIFT,
			     a->store ? CACHES_STORE : CACHES_LOAD, t);
}

/*
 * Access the line of @first, and those of the instruction's other accesses of
 * this kind, all at once.
 */
static inline struct caches_answer core_access_memory(
	struct core *c, const struct accesses *all,
	const struct trace_access *first, uint64_t t)
{
	uint64_t line = first->addr >> MACHINE_LINE_SHIFT;
	struct caches_answer answer = core_access_line(c, first, t);

	for (const struct trace_access *a = first + 1; a < all->access + all->n;
	     a++) {
		struct caches_answer other;

		if (a->store != first->store ||
		    a->addr >> MACHINE_LINE_SHIFT == line)
			continue;
		line = a->addr >> MACHINE_LINE_SHIFT;
		other = core_access_line(c, a, t);
		if (other.done > answer.done)
			answer = other;
	}
	return answer;
}

/* Data of a load, @ahead instructions from here, come from @answer. */
static inline void core_foresee(struct core *c, uint32_t ahead,
				const struct caches_answer *answer)
{
	if (c->forecast)
		forecast_load(c->forecast, ahead, c->machine->rob,
			      answer->beyond);
}

/* Predict the branch; true if that was right. */
static inline bool core_predict(struct core *c, const struct trace_insn *insn,
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

static inline void core_count(struct core *c, const struct uop_insn *decoded)
{
	if (c->forecast)
		c->forecast->at += decoded->uops;
	c->account->counts.instructions++;
	c->account->counts.uops += decoded->uops;
	c->account->counts.unknown += !decoded->known;
}

static inline void core_begin_at(struct core *c, uint64_t t)
{
	c->last_commit = later(c->last_commit, t);
	c->dispatch = later(c->dispatch, t);
	c->front = later(c->front, t);
}

#endif
