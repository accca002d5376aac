/* SPDX-License-Identifier: MIT */
/*
 * report_estimate - transfers that were estimated from samples
 *
 * With them the report's JSON speaks of transfers where it otherwise speaks of
 * detections. Threads are numbered as in their process, by their start.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report.h"
#include "analysis/util.h"
#include "src/transfer_tally.h"

enum {
	SYSTEMATIC_PERCENT = 10, /* docs/estimators.md: chains are biased */
};

struct cell_found {
	uint32_t a, b;
	struct transfer_cell cell;
};

/* Of one process, the one that has estimates. */
struct estimate {
	const struct process *process;
	struct transfer_sampling sampling;
	struct transfer_cell total;
	struct cell_found *cell;
	size_t cells;
};

static const struct cdp_transfer *last_of(const struct process *s,
					  uint32_t kind, uint32_t a, uint32_t b)
{
	for (size_t i = s->transfers; i > 0; i--) {
		const struct cdp_transfer *t = &s->transfer[i - 1];

		if (t->kind == kind && t->a == a && t->b == b)
			return t;
	}
	return NULL;
}

/* The file may hold anything: what is no number is nothing. */
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

static int compare(const void *a, const void *b)
{
	double x = ((const struct cell_found *)a)->cell.share[0].sum;
	double y = ((const struct cell_found *)b)->cell.share[0].sum;

	return (x < y) - (x > y);
}

static bool load(struct estimate *e, const struct profile *p)
{
	const struct cdp_transfer *sampling = NULL;

	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i < p->processes && !sampling; i++) {
		e->process = &p->process[i];
		sampling = last_of(e->process, CDP_ESTIMATE_SAMPLING, 0, 0);
	}
	if (!sampling)
		return false;
	e->sampling.samples = number(sampling->value[0]);
	e->sampling.jitter = number(sampling->value[1]);
	if (!strcmp(e->process->header.algorithm, "chain"))
		e->sampling.systematic = SYSTEMATIC_PERCENT / 100.0;
	e->cell = xcalloc(e->process->transfers, sizeof(*e->cell));
	for (size_t i = 0; i < e->process->transfers; i++) {
		const struct cdp_transfer *t = &e->process->transfer[i];
		const struct cdp_transfer *more;

		if (t->kind != CDP_ESTIMATE_CELL ||
		    t != last_of(e->process, t->kind, t->a, t->b))
			continue;
		more = last_of(e->process, CDP_ESTIMATE_MORE, t->a, t->b);
		if (t->a == UINT32_MAX) {
			take_cell(&e->total, t, more);
			continue;
		}
		e->cell[e->cells].a = t->a;
		e->cell[e->cells].b = t->b;
		take_cell(&e->cell[e->cells++].cell, t, more);
	}
	qsort(e->cell, e->cells, sizeof(*e->cell), compare);
	return true;
}

void report_estimate(struct report *r)
{
	struct estimate e;
	struct interval v;

	if (!load(&e, r->profile))
		return;
	v = transfer_interval(&e.total.share[TRANSFER_ALL], &e.sampling);
	report_heading(r, "Transfers of cache lines, estimated (%s)",
		       safe_text(e.process->header.algorithm));
	fprintf(r->out,
		"  %.0f (95 %% interval %.0f to %.0f), of them false "
		"sharing %s\n",
		e.total.share[TRANSFER_ALL].sum, v.low, v.high,
		percent_text(e.total.share[TRANSFER_FALSE].sum > 0
				     ? e.total.share[TRANSFER_FALSE].sum
				     : 0,
			     e.total.share[TRANSFER_ALL].sum));
	if (e.cells)
		fprintf(r->out, "%s  %6s %6s %12s   95 %% interval%s\n",
			paint(r, PAINT_DIM), "a", "b", "transfers",
			paint(r, PAINT_OFF));
	for (size_t i = 0; i < e.cells && i < r->top; i++) {
		const struct cell_found *c = &e.cell[i];

		v = transfer_interval(&c->cell.share[TRANSFER_ALL],
				      &e.sampling);
		fprintf(r->out, "  %6u %6u %12.0f   %.0f to %.0f\n", c->a, c->b,
			c->cell.share[TRANSFER_ALL].sum, v.low, v.high);
	}
	free(e.cell);
}

static void put(json_t *object, const char *name, json_t *value)
{
	if (!value || json_object_set_new(object, name, value))
		die("out of memory");
}

static json_t *json_moment(const struct estimate *e,
			   const struct transfer_cell *c,
			   enum transfer_share share)
{
	struct interval v = transfer_interval(&c->share[share], &e->sampling);
	json_t *o = json_object();

	put(o, "estimate", json_real(c->share[share].sum));
	put(o, "low", json_real(v.low));
	put(o, "high", json_real(v.high));
	return o;
}

static json_t *json_cell(const struct estimate *e, const struct cell_found *f)
{
	const struct transfer_cell *c = &f->cell;
	struct interval v =
		transfer_interval(&c->share[TRANSFER_ALL], &e->sampling);
	json_t *o = json_object();

	put(o, "a", json_integer(f->a));
	put(o, "b", json_integer(f->b));
	put(o, "all", json_real(c->share[TRANSFER_ALL].sum));
	put(o, "true", json_real(c->share[TRANSFER_TRUE].sum));
	put(o, "false", json_real(c->share[TRANSFER_FALSE].sum));
	put(o, "a_to_b", json_real(c->a_to_b));
	put(o, "b_to_a", json_real(c->share[TRANSFER_ALL].sum - c->a_to_b));
	put(o, "low", json_real(v.low));
	put(o, "high", json_real(v.high));
	put(o, "traps", json_integer((json_int_t)c->seen));
	put(o, "samples", json_integer((json_int_t)c->samples));
	return o;
}

json_t *report_estimate_json(const struct profile *p)
{
	json_t *o, *cells;
	struct estimate e;
	char *name;

	if (!load(&e, p))
		return NULL;
	o = json_object();
	cells = json_array();
	put(o, "quantity", json_string("transfers"));
	name = utf8_text(e.process->header.algorithm);
	put(o, "estimator", json_string(name));
	free(name);
	put(o, "unit", json_string("cache line transfers"));
	put(o, "interval_covers",
	    json_string(e.sampling.systematic > 0 ? "total" : "sampling"));
	put(o, "total", json_moment(&e, &e.total, TRANSFER_ALL));
	put(o, "true_sharing", json_moment(&e, &e.total, TRANSFER_TRUE));
	put(o, "false_sharing", json_moment(&e, &e.total, TRANSFER_FALSE));
	put(o, "samples", json_real(e.sampling.samples));
	for (size_t i = 0; i < e.cells; i++)
		if (json_array_append_new(cells, json_cell(&e, &e.cell[i])))
			die("out of memory");
	put(o, "cells", cells);
	free(e.cell);
	return o;
}
