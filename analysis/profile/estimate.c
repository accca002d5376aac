/* SPDX-License-Identifier: MIT */
/*
 * estimate - read the transfers that an estimator counted from its samples
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "analysis/base/util.h"

enum {
	/* docs/estimators.md: chains are biased, and hooks disturb threads. */
	SYSTEMATIC_CHAIN_PERCENT = 2,
	SYSTEMATIC_HOOKS_PERCENT = 4,
	AVOIDABLE_TURNS = 4, /* place in a record: turns of the log */
	FEW_WATCHES = 30
};

/* Of the interval, as a part of the number; so sigma is three eighths of it. */
#define WEAK_WIDTH 1.5

#define Z_95       1.959963984540054 /* normal quantile of 0.975 */

const struct cdp_transfer *estimate_record(const struct process *s,
					   uint32_t kind, uint32_t a,
					   uint32_t b)
{
	for (size_t i = s->transfers; i > 0; i--) {
		const struct cdp_transfer *t = &s->transfer[i - 1];

		if (t->kind == kind && t->a == a && t->b == b)
			return t;
	}
	return NULL;
}

static double number(uint64_t word)
{
	double x;

	memcpy(&x, &word, sizeof(x));
	return x > -1e30 && x < 1e30 ? x : 0;
}

static void take_cell(struct transfer_cell *c, const struct cdp_transfer *cell,
		      const struct cdp_transfer *more)
{
	memset(c, 0, sizeof(*c));
	for (int i = 0; i < TRANSFER_SHARES; i++) {
		c->share[i].sum = number(cell->value[2 * i]);
		c->share[i].square = number(cell->value[2 * i + 1]);
	}
	if (!more)
		return;
	c->a_to_b = number(more->value[0]);
	c->seen = (uint64_t)number(more->value[1]);
	c->samples = (uint64_t)number(more->value[2]);
}

static int order_u32(uint32_t x, uint32_t y)
{
	return (x > y) - (x < y);
}

/*
 * Order by cell; in a cell the sums come before the record that adds to them.
 */
static int compare_records(const void *a, const void *b)
{
	const struct cdp_transfer *x = *(const struct cdp_transfer *const *)a;
	const struct cdp_transfer *y = *(const struct cdp_transfer *const *)b;
	int order = order_u32(x->a, y->a);

	if (!order)
		order = order_u32(x->b, y->b);
	if (!order)
		order = order_u32(x->kind, y->kind);
	return order ? order : (x > y) - (x < y); /* keep the file's order */
}

static int compare(const void *a, const void *b)
{
	const struct estimate_cell *x = a, *y = b;
	double m = x->cell.share[0].sum, n = y->cell.share[0].sum;
	int order = (m < n) - (m > n);

	if (!order)
		order = order_u32(x->process, y->process);
	if (!order)
		order = order_u32(x->a, y->a);
	return order ? order : order_u32(x->b, y->b);
}

/* Append the cells of one process to @e; returns its total. */
static struct transfer_cell take_cells(struct estimate *e,
				       const struct process *s,
				       uint32_t process)
{
	const struct cdp_transfer **r = xcalloc(s->transfers, sizeof(*r));
	struct transfer_cell total = { .seen = 0 };
	size_t n = 0;

	for (size_t i = 0; i < s->transfers; i++)
		if (s->transfer[i].kind == CDP_ESTIMATE_CELL ||
		    s->transfer[i].kind == CDP_ESTIMATE_MORE)
			r[n++] = &s->transfer[i];
	if (n)
		qsort(r, n, sizeof(*r), compare_records);
	for (size_t i = 0, next; i < n; i = next) {
		const struct cdp_transfer *cell = NULL, *more = NULL;
		struct transfer_cell found;

		/* A later record replaces an earlier one. */
		for (next = i;
		     next < n && r[next]->a == r[i]->a && r[next]->b == r[i]->b;
		     next++)
			*(r[next]->kind == CDP_ESTIMATE_CELL ? &cell : &more) =
				r[next];
		if (!cell)
			continue;
		take_cell(&found, cell, more);
		if (cell->a == UINT32_MAX)
			total = found;
		else
			e->cell[e->cells++] =
				(struct estimate_cell){ process, cell->a,
							cell->b, found };
	}
	free(r);
	return total;
}

/*
 * How many transfers a sample of @s stands for, at least. Samples that lost
 * their watch are represented by those that kept it.
 */
static double weight(const struct process *s, const struct cdp_transfer *r)
{
	double candidates = number(r->value[2]), finished = number(r->value[3]);
	double followed = finished + COMM_REGISTERS_MAX;
	double share = candidates > followed ? candidates / followed : 1;

	return (double)s->header.period * share;
}

/* What padding avoids, of all lines together. */
struct avoidable {
	double transfers, judged;
	double open; /* false sharing on lines that no log tells about */
	bool known;
	bool knows_needed;
	double unlogged;               /* the same, corrections included */
	struct transfer_moment needed; /* of it */
};

/* The record of the last writing. */
static void take_needed(struct avoidable *a, const struct process *s)
{
	const struct cdp_transfer *t =
		estimate_record(s, CDP_ESTIMATE_NEEDED, 0, 0);

	if (!t)
		return;
	a->knows_needed = true;
	a->unlogged += number(t->value[0]);
	a->needed.sum += number(t->value[2]);
	a->needed.square += number(t->value[3]);
}

/* The records of the last writing follow @sampling, its first one. */
static void take_avoidable(struct avoidable *a, const struct process *s,
			   const struct cdp_transfer *sampling)
{
	const struct cdp_transfer *t = sampling;

	for (; t < s->transfer + s->transfers; t++) {
		double transfers = number(t->value[1]);
		double avoids = number(t->value[2]);

		if (t->kind != CDP_AVOIDABLE_LINE ||
		    t->a != CDP_AVOIDABLE_SAMPLED || !(transfers >= 0))
			continue;
		a->known = true;
		a->transfers += transfers;
		if (!(avoids > 0))
			continue;
		*(t->value[AVOIDABLE_TURNS] ? &a->judged : &a->open) +=
			avoids < transfers ? avoids : transfers;
	}
}

/*
 * Add the transfers that @s may have missed, and how many it is likely to have
 * missed at least. Few watches follow few of the samples where lines are seldom
 * stored to again. The samples that lost their watch stand for stores that may
 * have been the last before a transfer.
 */
static void add_missed(struct estimate *e, const struct process *s)
{
	const struct cdp_transfer *left =
		estimate_record(s, CDP_ESTIMATE_LEFT, 0, 0);
	const struct transfer_sampling sampling = { .samples = 0 };
	struct transfer_moment m;
	double unfollowed;

	if (!left)
		return;
	m.sum = number(left->value[0]);
	m.square = number(left->value[1]);
	if (m.sum > 0 && m.square > 0) {
		e->missed += m.sum + Z_95 * sqrt(m.square);
		e->missed_least += transfer_interval(&m, &sampling).low;
	}
	unfollowed = number(left->value[3]) * (double)s->header.period;
	if (number(left->value[2]) < FEW_WATCHES && unfollowed > 0) {
		e->missed += unfollowed;
		e->missed_least += unfollowed;
	}
}

static void put_avoidable(struct estimate *e, const struct avoidable *a)
{
	double useless;

	e->avoidable = -1;
	if (!a->known || !(a->transfers > 0))
		return;
	e->avoidable_judged = a->judged / a->transfers;
	e->avoidable_most = (a->judged + a->open) / a->transfers;
	e->avoidable = (e->avoidable_judged + e->avoidable_most) / 2;
	if (!a->knows_needed)
		return;
	e->knows_needed = true;
	e->needed = a->needed;
	useless = a->unlogged - a->needed.sum;
	useless = useless > 0 ? useless < a->open ? useless : a->open : 0;
	e->avoidable = (a->judged + useless) / a->transfers;
}

/* The debug registers of emu are simulated and stop no thread. */
bool estimate_has_traps(const struct cdp_header *h)
{
	return h->registers && strcmp(h->source, "emu") != 0;
}

/* What the interval has besides the error of sampling. */
static double systematic(const struct cdp_header *h)
{
	double chain = strcmp(h->algorithm, "chain")
			       ? 0
			       : SYSTEMATIC_CHAIN_PERCENT / 100.0;
	double hooks = strcmp(h->source, "instr")
			       ? 0
			       : SYSTEMATIC_HOOKS_PERCENT / 100.0;

	return hypot(chain, hooks);
}

bool estimate_load(struct estimate *e, const struct profile *p)
{
	struct avoidable avoidable = { .known = false };
	double most = -1;
	size_t records = 0;

	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i < p->processes; i++)
		records += p->process[i].transfers;
	e->cell = xcalloc(records, sizeof(*e->cell));
	for (size_t i = 0; i < p->processes; i++) {
		const struct process *s = &p->process[i];
		const struct cdp_transfer *sampling =
			estimate_record(s, CDP_ESTIMATE_SAMPLING, 0, 0);
		struct transfer_cell total;

		if (!sampling)
			continue;
		e->sampling.samples += number(sampling->value[0]);
		if (number(sampling->value[1]) > e->sampling.jitter)
			e->sampling.jitter = number(sampling->value[1]);
		if (weight(s, sampling) > e->sampling.weight)
			e->sampling.weight = weight(s, sampling);
		if (systematic(&s->header) > e->sampling.systematic)
			e->sampling.systematic = systematic(&s->header);
		add_missed(e, s);
		take_avoidable(&avoidable, s, sampling);
		take_needed(&avoidable, s);
		total = take_cells(e, s, i);
		transfer_cell_add(&e->total, &total);
		if (total.share[TRANSFER_ALL].sum <= most)
			continue;
		most = total.share[TRANSFER_ALL].sum;
		e->process = s;
	}
	if (!e->process) {
		estimate_release(e);
		return false;
	}
	put_avoidable(e, &avoidable);
	qsort(e->cell, e->cells, sizeof(*e->cell), compare);
	return true;
}

struct interval estimate_interval(const struct estimate *e,
				  const struct transfer_moment *m)
{
	struct interval v = transfer_interval(m, &e->sampling);

	v.high += e->missed;
	return v;
}

bool estimate_is_weak(const struct estimate *e)
{
	const struct transfer_moment *all = &e->total.share[TRANSFER_ALL];
	struct interval v = transfer_interval(all, &e->sampling);

	return e->total.samples < ESTIMATE_FEW_SAMPLES ||
	       v.high - v.low > WEAK_WIDTH * all->sum;
}

struct interval estimate_share_interval(const struct estimate *e,
					struct interval v)
{
	double all = e->total.share[TRANSFER_ALL].sum;
	double seen = all > 0 ? all / (all + e->missed) : 1;

	return (struct interval){ v.low * seen, v.high * seen + 1 - seen };
}

/*
 * On lines without a log the share lies between none of what is false sharing
 * and all of it. Where other samples tell what of it was needed, their error is
 * independent.
 */
struct interval estimate_avoidable_interval(const struct estimate *e)
{
	const struct transfer_moment *all = &e->total.share[TRANSFER_ALL];
	double n = interval_effective(all->sum, all->square);
	struct interval v, needed,
		most = {
			interval_share(e->avoidable_judged * n, n).low,
			interval_share(e->avoidable_most * n, n).high,
		};

	if (e->knows_needed) {
		v = interval_share(e->avoidable * n, n);
		needed = transfer_interval(&e->needed, &e->sampling);
		v.low = e->avoidable -
			hypot(e->avoidable - v.low,
			      (needed.high - e->needed.sum) / all->sum);
		v.high = e->avoidable +
			 hypot(v.high - e->avoidable,
			       (e->needed.sum - needed.low) / all->sum);
		most.low = v.low > most.low ? v.low : most.low;
		most.high = v.high < most.high ? v.high : most.high;
	}
	return estimate_share_interval(e, most);
}

void estimate_release(struct estimate *e)
{
	free(e->cell);
	e->cell = NULL;
	e->cells = 0;
}
