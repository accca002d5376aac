/* SPDX-License-Identifier: MIT */
/*
 * judge - make rows of outcomes: an error, an interval, a verdict
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "analysis/base/util.h"

/* The upper limit of the 95 % interval of the mean, if nothing was seen. */
#define NONE_SEEN 3.688879454113936

struct accuracy_row *accuracy_row(struct accuracy *all, const char *suite,
				  const char *name, const char *metric)
{
	struct accuracy_row *r;

	all->row =
		grow(all->row, all->rows, &all->rows_room, sizeof(*all->row));
	r = &all->row[all->rows++];
	*r = (struct accuracy_row){
		.suite = suite,
		.metric = metric,
		.name = xstrdup(name),
		.measured = NAN,
		.truth = NAN,
		.error = NAN,
		.low = NAN,
		.high = NAN,
		.bound = NAN,
	};
	return r;
}

static struct accuracy_row *trial_row(struct accuracy *all,
				      const struct accuracy_trial *t,
				      const char *metric)
{
	struct accuracy_row *r = accuracy_row(all, t->suite, t->label, metric);

	r->threads = t->threads;
	if (t->failed)
		r->verdict = ACCURACY_FAILED;
	return r;
}

void accuracy_verdict(struct accuracy_row *r, bool good)
{
	r->verdict = good ? ACCURACY_PASSED : ACCURACY_FAILED;
}

void accuracy_bound(struct accuracy_row *r, double bound)
{
	if (isnan(bound))
		return;
	r->bound = bound;
	accuracy_verdict(r, fabs(r->error) <= bound);
}

static void fill_total(struct accuracy_row *r, const struct accuracy_trial *t)
{
	const struct accuracy_outcome *o = &t->outcome;

	r->measured = o->estimate;
	r->truth = (double)o->exact;
	r->error = o->exact ? o->estimate / (double)o->exact - 1 : NAN;
	r->low = o->low;
	r->high = o->high;
	if (!o->seen)
		r->high = NONE_SEEN * (double)t->period;
}

void accuracy_judge_total(struct accuracy *all, const struct accuracy_trial *t,
			  double bound)
{
	struct accuracy_row *r = trial_row(all, t, ACCURACY_TOTAL);

	if (t->failed)
		return;
	fill_total(r, t);
	accuracy_bound(r, bound);
}

void accuracy_judge_interval(struct accuracy *all,
			     const struct accuracy_trial *t)
{
	struct accuracy_row *r =
		trial_row(all, t, "transfers, in their interval");

	if (t->failed)
		return;
	fill_total(r, t);
	accuracy_verdict(r, r->low <= r->truth && r->truth <= r->high);
}

void accuracy_judge_false(struct accuracy *all, const struct accuracy_trial *t,
			  double truth, double bound, uint64_t traps)
{
	const struct accuracy_outcome *o = &t->outcome;
	struct accuracy_row *r = trial_row(all, t, "false share");

	if (t->failed)
		return;
	r->measured = o->false_share;
	r->truth = truth;
	r->error = r->measured - r->truth;
	r->low = o->false_low;
	r->high = o->false_high;
	if (o->seen >= traps)
		accuracy_bound(r, bound);
	else
		accuracy_verdict(r, r->low <= r->truth && r->truth <= r->high);
}

/* Find the cell whose share of the highest is farthest from the true share. */
void accuracy_judge_cells(struct accuracy *all, const struct accuracy_trial *t,
			  double bound, uint64_t traps)
{
	const struct accuracy_outcome *o = &t->outcome;
	struct accuracy_row *r =
		trial_row(all, t, "cell by the highest, farthest off");
	double top = 0, exact_top = 0;

	if (t->failed)
		return;
	for (size_t i = 0; i < o->cells; i++) {
		top = fmax(top, o->cell[i].estimate);
		exact_top = fmax(exact_top, (double)o->cell[i].exact);
	}
	r->error = top > 0 && exact_top > 0 ? 0 : NAN;
	for (size_t i = 0; i < o->cells; i++) {
		double measured = o->cell[i].estimate / top;
		double truth = (double)o->cell[i].exact / exact_top;

		if (!(fabs(measured - truth) >= fabs(r->error)))
			continue;
		r->measured = measured;
		r->truth = truth;
		r->error = measured - truth;
		r->low = o->cell[i].low / top;
		r->high = o->cell[i].high / top;
	}
	accuracy_bound(r, o->seen >= traps ? bound : NAN);
}

void accuracy_judge_scaled(struct accuracy *all, const struct accuracy_trial *t,
			   double scale, double bound)
{
	struct accuracy_row *r =
		trial_row(all, t, "transfers, error by the first case");

	if (t->failed)
		return;
	fill_total(r, t);
	r->error = (r->measured - r->truth) / scale;
	accuracy_bound(r, bound);
}

void accuracy_judge_value(struct accuracy *all, const struct accuracy_trial *t,
			  const char *metric, double measured, double truth,
			  bool relative, double bound)
{
	struct accuracy_row *r = trial_row(all, t, metric);

	if (t->failed)
		return;
	r->measured = measured;
	r->truth = truth;
	r->error = relative ? measured / truth - 1 : measured - truth;
	accuracy_bound(r, bound);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double accuracy_median(double *x, size_t n)
{
	if (!n)
		return NAN;
	qsort(x, n, sizeof(*x), compare);
	return n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

void accuracy_judge_median(struct accuracy *all, const char *suite,
			   const char *name, size_t first, double bound)
{
	double *error = xcalloc(all->rows - first, sizeof(*error));
	struct accuracy_row *r;
	size_t n = 0;

	for (size_t i = first; i < all->rows; i++)
		if (!strcmp(all->row[i].metric, ACCURACY_TOTAL) &&
		    !isnan(all->row[i].error))
			error[n++] = fabs(all->row[i].error);
	r = accuracy_row(all, suite, name, "median error without sign");
	r->measured = r->error = accuracy_median(error, n);
	r->truth = 0;
	accuracy_bound(r, bound);
	free(error);
}
