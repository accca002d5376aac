/* SPDX-License-Identifier: MIT */
/*
 * chains - chains of dependences in micro-traces
 */
#include <stdlib.h>

#include "chains.h"
#include "analysis/base/util.h"

enum {
	LATE_PART = 4, /* branches in the last quarter of a window count */
};

struct chains {
	double dist[MICRO_UOPS];  /* the longest chain that ends with it */
	uint32_t row[MICRO_UOPS]; /* of misses */
};

struct chains *chains_new(void)
{
	return xcalloc(1, sizeof(struct chains));
}

void chains_free(struct chains *c)
{
	free(c);
}

/* Extend the chains of @i by the one that ends @back before it. */
static void extend(const struct chains *c, uint32_t i, uint32_t back,
		   uint32_t begin, double *dist, uint32_t *row)
{
	uint32_t j = i - back;

	if (!back || j < begin)
		return;
	if (c->dist[j] > *dist)
		*dist = c->dist[j];
	if (c->row[j] > *row)
		*row = c->row[j];
}

static void follow(struct chains *c, const struct micro_uop *u, uint32_t i,
		   const struct chains_costs *costs, uint32_t begin)
{
	double dist = (i - begin) * costs->entry, fetched = 0;
	uint32_t row = 0, fetching = 0;
	bool begins = costs->zero_idioms && u->flags & UOP_IS_ZERO;

	for (int k = 0; k < (begins ? 0 : u->sources); k++)
		extend(c, i, u->source[k], begin, &dist, &row);
	if (u->flags & UOP_IS_LOAD)
		extend(c, i, u->forward, begin, &dist, &row);
	dist += costs->cost[i];
	row += costs->miss[i];
	if (costs->flight && u->flags & UOP_IS_LOAD) {
		extend(c, i, u->line, begin, &fetched, &fetching);
		dist = fetched > dist ? fetched : dist;
		row = fetching > row ? fetching : row;
	}
	c->dist[i] = dist;
	c->row[i] = row;
}

static void add_window(struct chains *c, const struct micro_uop *u,
		       const struct chains_costs *costs, uint32_t begin,
		       uint32_t length, struct chains_sums *to)
{
	uint32_t late = begin + length - length / LATE_PART, row = 0;
	double longest = 0;

	for (uint32_t i = begin; i < begin + length; i++) {
		follow(c, &u[i], i, costs, begin);
		longest = c->dist[i] > longest ? c->dist[i] : longest;
		row = c->row[i] > row ? c->row[i] : row;
		to->misses += costs->miss[i];
		if (u[i].flags & UOP_IS_BRANCH && i >= late) {
			to->branches++;
			to->resolve += c->dist[i] - (i - begin) * costs->entry;
		}
	}
	to->windows++;
	to->longest += longest;
	to->in_row += row;
}

void chains_add(struct chains *c, const struct workload_thread *t,
		const struct micro_trace *m, const struct chains_costs *costs,
		uint32_t length, struct chains_sums *to)
{
	uint32_t step = length > 1 ? length / 2 : 1;

	for (uint32_t begin = 0; length && begin + length <= m->uops;
	     begin += step)
		add_window(c, &t->uop[m->first], costs, begin, length, to);
}
