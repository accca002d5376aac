/* SPDX-License-Identifier: MIT */
/*
 * collect_quick - a profile of a trace that is whole in parts
 */
#include <string.h>

#include "collect_quick.h"

enum {
	WARM_INSNS = 1900, /* of a whole part, before its micro-trace */
	MOMENT = 4,
};

static double ratio(uint64_t a, uint64_t b)
{
	return b ? (double)a / (double)b : 0;
}

void collect_quick_begin(struct collected *c)
{
	struct collected_quick *q = &c->quick;
	uint64_t insns = c->now->instructions - q->insns, uops = 0;

	for (int i = 0; i < UOP_CLASSES; i++)
		uops += c->now->uops[i];
	q->on = true;
	q->uops_rate = ratio(uops, insns);
	q->data_rate = ratio(q->uses[WINDOW_LOADS] + q->uses[WINDOW_STORES],
			     q->whole_accesses);
	q->code_rate = ratio(q->uses[WINDOW_FETCHES], insns);
}

/* @passed uses more, of which @use itself counts; returns how many do not. */
static uint64_t pass(double *rest, double passed, bool use)
{
	int64_t n;

	*rest += passed;
	n = (int64_t)*rest;
	*rest -= (double)n;
	return n > use ? (uint64_t)(n - use) : 0;
}

void collect_quick(struct collector *all, struct collected *c,
		   const struct trace_use *use)
{
	static const enum window_kind kinds[] = {
		[TRACE_BLOCK] = WINDOW_FETCHES,
		[TRACE_LOAD] = WINDOW_LOADS,
		[TRACE_STORE] = WINDOW_STORES,
	};
	struct collected_quick *q = &c->quick;
	bool uses_line = use->kind != TRACE_EVENT;
	bool fetch = use->kind == TRACE_BLOCK;
	struct micro_access a;
	uint64_t data, code;
	/* At most 2^30, and so quicker to convert. */
	double insns = (double)(int64_t)use->insns;

	all->quick = true;
	if (!q->on)
		collect_quick_begin(c);
	q->insns += use->insns;
	q->accesses += use->passed;
	c->to->instructions += use->insns;
	c->now->instructions += use->insns;
	c->uses.uop += (uint32_t)(int64_t)(insns * q->uops_rate);
	data = pass(&q->data, (double)(int64_t)use->passed * q->data_rate,
		    uses_line && !fetch);
	code = pass(&q->code, insns * q->code_rate, fetch);
	c->uses.data_n += data;
	c->uses.code_n += code;
	all->uses.n += data + code;
	if (!uses_line)
		return;
	c->uses.in_micro = false;
	c->uses.ip = 0;
	q->sent[kinds[use->kind]]++;
	thread_uses_add(&c->uses, &all->uses, (uint32_t)(c - all->thread),
			use->line, kinds[use->kind], c->now, &a);
	if (fetch)
		c->line = use->line;
}

void collect_quick_end(struct collected *c)
{
	struct collected_quick *q = &c->quick;
	uint64_t since = c->to->instructions - q->micro;
	bool due = since >= c->spacing - c->spacing / 4;

	q->on = false;
	c->at = MICRO_INSNS;
	c->interval = due ? MICRO_INSNS + WARM_INSNS : UINT64_MAX;
	if (due)
		q->micro = c->to->instructions;
}

static uint32_t rounded(double n)
{
	return n < 0 ? 0 : n < UINT32_MAX ? (uint32_t)(n + 0.5) : UINT32_MAX;
}

static double uses_of(const struct window *w, int kind)
{
	double n = 0;

	for (int i = 0; i < WORKLOAD_REUSES; i++)
		n += w->reuse[kind][i];
	return n;
}

void collect_quick_end_window(struct collected *c)
{
	struct collected_quick *q = &c->quick;
	struct window *w = c->now;
	uint64_t insns = w->instructions - q->insns;
	uint32_t bin = reuse_bin_of(MOMENT);
	/* A window without a whole part is like that before it. */
	const struct window *like = !insns && c->to->windows > 1 ? w - 1 : NULL;
	const struct window *of = like ? like : w;
	double by = ratio(w->instructions, like ? like->instructions : insns);

	for (int i = 0; i < UOP_CLASSES && by > 0; i++)
		w->uops[i] = rounded(of->uops[i] * by);
	for (int i = 0; i < PREDICTORS && by > 0; i++)
		w->wrong[i] = rounded(of->wrong[i] * by);
	if (like)
		memcpy(w->entropy, like->entropy, sizeof(w->entropy));
	for (int k = 0; k < WINDOW_KINDS; k++) {
		double all = k == WINDOW_FETCHES
				     ? ratio(q->insns, insns)
				     : ratio(q->accesses, q->whole_accesses);
		double uses =
			like ? uses_of(like, k) * by : (double)q->uses[k] * all;
		uint32_t rest = rounded(uses - (double)q->sent[k]);

		w->reuse[k][bin] += rest;
		w->global[k][bin] += rest;
		c->uses.above[k][0] += rest;
		c->uses.above_shared[k][0] += rest;
	}
	q->insns = q->accesses = q->whole_accesses = 0;
	memset(q->sent, 0, sizeof(q->sent));
	memset(q->uses, 0, sizeof(q->uses));
}
