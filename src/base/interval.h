/* SPDX-License-Identifier: MIT */
/*
 * interval - how sure a share or a count of detections is
 *
 * Two-sided 95 % confidence intervals of what sampling adds. They know nothing
 * of bias: a map that is wrong in the same way in every run has a narrow
 * interval.
 *
 * Numbers are doubles because weighted detections have no whole number of
 * them: @n detections of weights w stand for interval_effective() detections
 * of equal weight.
 *
 * Context: analysis. Needs libm.
 */
#ifndef COMDET_BASE_INTERVAL_H
#define COMDET_BASE_INTERVAL_H

struct interval {
	double low, high;
};

/*
 * The share that @hits of @trials estimates, 0 to 1 (E. B. Wilson, JASA 22,
 * 1927): good for few trials, and at shares near 0 and 1. @trials 0 tells
 * nothing: 0 to 1.
 */
struct interval interval_share(double hits, double trials);

/*
 * The mean of a Poisson distribution of which @count was seen
 * (F. Garwood, Biometrika 28, 1936):
 *
 *	chi2(0.025; 2 count) / 2 <= mean <= chi2(0.975; 2 count + 2) / 2
 *
 * Exact to 1e-9 relative, from 100,000 on by Wilson and Hilferty's
 * approximation, whose error is below 1e-6 of the count there.
 */
struct interval interval_count(double count);

/*
 * Kish's effective number: (sum of weights)^2 / (sum of their squares), 0 if
 * there are none. The share of a weighted kind among all has the interval
 * interval_share(share * effective, effective).
 */
double interval_effective(double sum, double sum_of_squares);

#endif
