/* SPDX-License-Identifier: MIT */
/*
 * estimate - see estimate.h
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/estimate.h"
#include "analysis/util.h"

enum {
	SYSTEMATIC_PERCENT = 10, /* docs/estimators.md: chains are biased */
};

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

static int compare(const void *a, const void *b)
{
	double x = ((const struct estimate_cell *)a)->cell.share[0].sum;
	double y = ((const struct estimate_cell *)b)->cell.share[0].sum;

	return (x < y) - (x > y);
}

bool estimate_load(struct estimate *e, const struct profile *p)
{
	const struct cdp_transfer *sampling = NULL;

	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i < p->processes && !sampling; i++) {
		e->process = &p->process[i];
		sampling = estimate_record(e->process, CDP_ESTIMATE_SAMPLING, 0,
					   0);
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
		    t != estimate_record(e->process, t->kind, t->a, t->b))
			continue;
		more = estimate_record(e->process, CDP_ESTIMATE_MORE, t->a,
				       t->b);
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

void estimate_release(struct estimate *e)
{
	free(e->cell);
	e->cell = NULL;
	e->cells = 0;
}
