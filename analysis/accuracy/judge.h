/* SPDX-License-Identifier: MIT */
/*
 * judge - rows that compare estimates with the truth
 */
#ifndef COMDET_ANALYSIS_ACCURACY_JUDGE_H
#define COMDET_ANALYSIS_ACCURACY_JUDGE_H

#include "accuracy.h"

/*
 * Add a row that belongs to no trial. Keeps @suite and @metric, copies @name.
 */
struct accuracy_row *accuracy_row(struct accuracy *all, const char *suite,
				  const char *name, const char *metric);

void accuracy_verdict(struct accuracy_row *r, bool good);

/* Judge the size of the row's error; with @bound NAN the row is only shown. */
void accuracy_bound(struct accuracy_row *r, double bound);

double accuracy_median(double *x, size_t n);

/* Each function below adds a row about @t. */

/* The total, judged by its relative error. */
void accuracy_judge_total(struct accuracy *all, const struct accuracy_trial *t,
			  double bound);

/* The total, judged by whether its interval contains the truth. */
void accuracy_judge_interval(struct accuracy *all,
			     const struct accuracy_trial *t);

/*
 * The share of false transfers, judged by @bound; with fewer than @traps traps,
 * by whether its interval contains @truth.
 */
void accuracy_judge_false(struct accuracy *all, const struct accuracy_trial *t,
			  double truth, double bound, uint64_t traps);

/*
 * The cell that is farthest off, after all cells are divided by the highest;
 * with fewer than @traps traps it is only shown.
 */
void accuracy_judge_cells(struct accuracy *all, const struct accuracy_trial *t,
			  double bound, uint64_t traps);

/* The total, judged by its error divided by @scale instead of the truth. */
void accuracy_judge_scaled(struct accuracy *all, const struct accuracy_trial *t,
			   double scale, double bound);

/* Any figure, judged by its relative error or, unless @relative, by its
 * difference. */
void accuracy_judge_value(struct accuracy *all, const struct accuracy_trial *t,
			  const char *metric, double measured, double truth,
			  bool relative, double bound);

/* The median size of the error of the totals, over the rows from @first on. */
void accuracy_judge_median(struct accuracy *all, const char *suite,
			   const char *name, size_t first, double bound);

#endif
