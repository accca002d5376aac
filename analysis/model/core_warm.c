/* SPDX-License-Identifier: MIT */
/*
 * core_warm - instructions that change caches and predictors, and take no time
 */
#include "core_internal.h"

static void warm(struct core *c, const struct uop *u,
		 const struct accesses *all)
{
	const struct trace_access *a =
		core_first_access(all, u->flags & UOP_IS_STORE);
	struct caches_answer answer;

	c->account->counts.loads += !!(u->flags & UOP_IS_LOAD);
	c->account->counts.stores += !!(u->flags & UOP_IS_STORE);
	if (a) {
		answer = core_access_memory(c, all, a, c->dispatch);
		if (!a->store)
			core_foresee(c, 0, &answer);
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
	core_fetch(c, insn);
	for (int i = 0; i < decoded->uops; i++) {
		const struct uop *u = &decoded->uop[i];

		if (u->flags & (UOP_IS_LOAD | UOP_IS_STORE))
			warm(c, u, &all);
		if (u->flags & UOP_IS_BRANCH)
			core_predict(c, insn, next_ip);
	}
	core_count(c, decoded);
	c->front = c->dispatch;
	core_begin_at(c, t);
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
			struct caches_answer answer;

			c->ip = insn[a->index].ip;
			answer = core_access_line(c, a, c->dispatch);
			if (!a->store)
				core_foresee(c, a->index, &answer);
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
		core_fetch_line(c, line);
	warm_accesses(c, insn, step);
	if (b->branch)
		core_predict(c, &insn[b->insns - 1], step->next_ip);
	n->instructions += b->insns;
	n->uops += b->uops;
	if (c->forecast)
		c->forecast->at += b->uops;
	n->loads += b->loads;
	n->stores += b->stores;
	c->front = c->dispatch;
	core_begin_at(c, t);
}
