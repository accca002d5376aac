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

#include "analysis/estimate.h"
#include "analysis/report.h"
#include "analysis/util.h"

void report_estimate(struct report *r)
{
	struct estimate e;
	struct interval v;

	if (!estimate_load(&e, r->profile))
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
		const struct estimate_cell *c = &e.cell[i];

		v = transfer_interval(&c->cell.share[TRANSFER_ALL],
				      &e.sampling);
		fprintf(r->out, "  %6u %6u %12.0f   %.0f to %.0f\n", c->a, c->b,
			c->cell.share[TRANSFER_ALL].sum, v.low, v.high);
	}
	estimate_release(&e);
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

static json_t *json_cell(const struct estimate *e,
			 const struct estimate_cell *f)
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

	if (!estimate_load(&e, p))
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
	estimate_release(&e);
	return o;
}
