/* SPDX-License-Identifier: MIT */
/*
 * coverage - how often the cells' intervals contain the truth
 *
 * Pooled over programs and seeds, nineteen of twenty 95 % intervals must
 * contain the truth, and no interval may be so wide that this is easy. Coverage
 * and width are shown for the stated intervals, which are judged, and for the
 * part of them that sampling explains, without what is added for bias.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "coverage.h"
#include "judge.h"
#include "plan.h"
#include "analysis/base/util.h"

enum {
	CELLS_MIN = 500, /* for a verdict */
	SEEDS = 9,
	THREADS = 4, /* six cells */
	ARMING = 1000,
	PERIOD = 500,
};
#define ACCESSES 20e6
#define COVERAGE 0.95
#define BOUND    0.03
#define WIDTH    0.15 /* bound of (high - low) / estimate */

static const struct {
	const char *label, *program, *options;
	double an_iteration; /* accesses */
} programs[] = {
	{ "sharing 0.2", "write_volume", "--sharing 0.2",
	  ACCURACY_WRITE_VOLUME },
	{ "sharing 0.5", "write_volume", "--sharing 0.5",
	  ACCURACY_WRITE_VOLUME },
	{ "sharing 1.0", "write_volume", "--sharing 1", ACCURACY_WRITE_VOLUME },
	{ "false 0.5", "false_sharing", "--false 0.5", ACCURACY_FALSE_SHARING },
	{ "bursts of 10", "patterns", "--pattern bursts", 3.6 },
	{ "ring buffer", "patterns", "--pattern ring", 24 },
	{ "eight counters", "patterns", "--pattern counters", 2.9 },
};

void accuracy_plan_intervals(struct accuracy *all)
{
	for (uint64_t arming = 0; arming <= ARMING; arming += ARMING)
		for (size_t i = 0; i < sizeof(programs) / sizeof(*programs);
		     i++)
			for (int seed = 0; seed < SEEDS; seed++) {
				struct accuracy_trial *t = accuracy_plan(
					all, "intervals", programs[i].program,
					THREADS, ACCESSES,
					programs[i].an_iteration,
					programs[i].options);

				t->period = PERIOD;
				t->arming = arming;
				t->label = xstrdup(programs[i].label);
			}
}

/* Which trials to pool; NULL and negative values match any. */
struct kind {
	const char *label;
	int64_t arming;
};

struct pool {
	size_t cells, room, held;
	double *width;
};

static bool is_of(const struct accuracy_trial *t, const struct kind *k)
{
	return !t->failed && (!k->label || !strcmp(t->label, k->label)) &&
	       (k->arming < 0 || t->arming == (uint64_t)k->arming);
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

/* The stated intervals over all programs are judged; the rest is shown. */
static void add_rows(struct accuracy *all, size_t first, const struct kind *k,
		     bool stated)
{
	bool pooled = !k->label && k->arming < 0, judged;
	struct pool p = { 0 };
	struct accuracy_row *r;
	char *name, *arming;

	for (size_t i = first; i < all->trials; i++)
		if (is_of(&all->trial[i], k))
			take_trial(&p, &all->trial[i], stated);
	if (!p.cells && !pooled)
		return;
	/* Too few cells fail the row, unless runs were left out. */
	judged = pooled && stated && (p.cells >= CELLS_MIN || !all->left_out);
	arming = k->arming < 0 ? xstrdup("")
			       : xasprintf(", arming %ld", (long)k->arming);
	name = xasprintf("%s, %s%s, %zu cells",
			 stated ? "stated" : "sampling alone",
			 k->label ? k->label : "all", arming, p.cells);
	r = accuracy_row(all, "intervals", name, "share that holds");
	r->measured = (double)p.held / (double)p.cells;
	r->truth = COVERAGE;
	r->error = r->measured - COVERAGE;
	accuracy_bound(r, judged ? BOUND : NAN);
	if (judged && p.cells < CELLS_MIN)
		accuracy_verdict(r, false);
	r = accuracy_row(all, "intervals", name, "median width");
	r->measured = r->error = accuracy_median(p.width, p.cells);
	accuracy_bound(r, judged ? WIDTH : NAN);
	free(p.width);
	free(name);
	free(arming);
}

void accuracy_judge_intervals(struct accuracy *all, size_t first)
{
	static const int64_t armings[] = { -1, 0, ARMING };

	for (int stated = 1; stated >= 0; stated--)
		for (int a = 0; a < 3; a++) {
			struct kind k = { NULL, armings[a] };

			add_rows(all, first, &k, stated);
			for (size_t i = 0;
			     a && i < sizeof(programs) / sizeof(*programs);
			     i++) {
				k.label = programs[i].label;
				add_rows(all, first, &k, stated);
			}
		}
}
