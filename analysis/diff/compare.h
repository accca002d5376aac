/* SPDX-License-Identifier: MIT */
/*
 * compare - tell a change from noise: the ratio of two rates, with its interval
 *
 * A run gives a number of events in an exposure: detections in samples,
 * transfers in accesses. Events of one run are taken as Poisson. Where a side
 * has several runs, their own scatter widens the interval.
 *
 * Context: analysis. Does not allocate. Needs libm.
 */
#ifndef COMDET_ANALYSIS_DIFF_COMPARE_H
#define COMDET_ANALYSIS_DIFF_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/base/interval.h"

/* One run. Events of unequal weight: as many of equal weight. */
struct run_count {
	double events, exposure;
};

enum verdict {
	VERDICT_UNKNOWN, /* nothing to compare, or no interval */
	VERDICT_NOISE,   /* 1 is in the interval */
	VERDICT_FEWER,
	VERDICT_MORE
};

struct comparison {
	double before, after; /* events per exposure; NAN: no exposure */
	double ratio;         /* after / before; NAN: both are 0 */
	struct interval by;   /* of the ratio; high may be INFINITY */
	enum verdict verdict;
};

/*
 * Compare the pooled rates of two sides. Given all events, those of the second
 * side are binomial (Przyborowski and Wilenski, Biometrika 31, 1940); the
 * interval is Wilson's of that share, as a ratio. With three runs or more in
 * all, the number of events is divided by the runs' dispersion (Pearson's
 * chi-squared by its degrees of freedom, at least 1; McCullagh and Nelder,
 * Generalized Linear Models, 1989, 4.5), and Student's quantile takes the
 * place of the normal one.
 *
 * @level is the chance that the interval misses: 0.05, or less where several
 * comparisons are made at once.
 */
struct comparison compare_rates(const struct run_count *before, size_t n,
				const struct run_count *after, size_t m,
				double level);

/*
 * Compare the geometric means of positive quantities that have no error of
 * their own, such as CPU times: Student's interval of the difference of the
 * means of their logarithms. The verdict is unknown with one run on a side.
 */
struct comparison compare_values(const double *before, size_t n,
				 const double *after, size_t m, double level);

#endif
