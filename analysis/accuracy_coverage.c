/* SPDX-License-Identifier: MIT */
/*
 * accuracy_coverage - how often the cells' intervals hold the truth
 *
 * Pooled over all trials of the same kind: of a 95 % interval that is what it
 * says, nineteen of twenty must, and it must not owe that to its width.
 * Both are said of the intervals as they are stated and of the part of them
 * that sampling explains, without what is added for a bias.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/accuracy.h"
#include "analysis/util.h"

enum {
	CELLS_MIN = 500, /* of a verdict */
};
#define COVERAGE 0.95
#define BOUND    0.03
#define WIDTH    0.15 /* of the whole interval, by its estimate */

/* Which trials; threads 0: any. */
struct kind {
	const char *algorithm;
	bool chunks;
	uint64_t arming;
	uint32_t threads;
};

struct pool {
	size_t cells, room, held;
	double *width;
};

static bool is_of(const struct accuracy_trial *t, const struct kind *k)
{
	return !t->failed && !strcmp(t->algorithm, k->algorithm) &&
	       t->chunks == k->chunks && t->arming == k->arming &&
	       (!k->threads || t->threads == k->threads);
}

static void take_trial(struct pool *p, const struct accuracy_trial *t,
		       bool stated)
{
	for (size_t i = 0; i < t->outcome.cells; i++) {
		const struct accuracy_cell *c = &t->outcome.cell[i];
		double low = stated ? c->low : c->low_sampling;
		double high = stated ? c->high : c->high_sampling;

		if (c->seen < ACCURACY_FEW)
			continue;
		p->width =
			grow(p->width, p->cells, &p->room, sizeof(*p->width));
		p->width[p->cells++] = (high - low) / c->estimate;
		p->held += low <= (double)c->exact && (double)c->exact <= high;
	}
}

/* For all threads there is a verdict, for some of them figures. */
static void add_rows(struct accuracy *all, const struct kind *k, bool stated)
{
	struct pool p = { 0 };
	struct accuracy_row *r;
	char *name;

	for (size_t i = 0; i < all->trials; i++)
		if (is_of(&all->trial[i], k))
			take_trial(&p, &all->trial[i], stated);
	if (!p.cells)
		return;
	name = xasprintf("%s, %s%s, arming %llu, %zu cells",
			 stated ? "stated" : "sampling alone", k->algorithm,
			 k->chunks ? ", 8 bytes" : "",
			 (unsigned long long)k->arming, p.cells);
	r = accuracy_row(all, "intervals", name, "share that holds");
	r->threads = k->threads;
	r->measured = (double)p.held / (double)p.cells;
	r->truth = COVERAGE;
	r->error = r->measured - COVERAGE;
	accuracy_bound(r, k->threads || p.cells < CELLS_MIN ? NAN : BOUND);
	r = accuracy_row(all, "intervals", name, "median width");
	r->threads = k->threads;
	r->measured = r->error = accuracy_median(p.width, p.cells);
	accuracy_bound(r, k->threads || p.cells < CELLS_MIN ? NAN : WIDTH);
	free(p.width);
	free(name);
}

void accuracy_judge_intervals(struct accuracy *all)
{
	static const uint32_t threads[] = { 0, 2, 4, 8, 16, 32 };
	static const struct kind kinds[] = {
		{ "chain", false, 0, 0 },   { "chain", false, 1000, 0 },
		{ "epoch", false, 0, 0 },   { "chain", true, 0, 0 },
		{ "chain", true, 1000, 0 },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (int stated = 1; stated >= 0; stated--)
			for (size_t n = 0;
			     n < sizeof(threads) / sizeof(*threads); n++) {
				struct kind k = kinds[i];

				k.threads = threads[n];
				add_rows(all, &k, stated);
			}
}
