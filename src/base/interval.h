/* SPDX-License-Identifier: MIT */
/*
 * interval - confidence intervals of shares and counts of detections
 *
 * Two-sided 95 % intervals for the error of sampling. They do not cover bias: a
 * map that is wrong in the same way in every run has a narrow interval.
 *
 * Counts are doubles because weighted detections stand for a number of
 * detections of equal weight, interval_effective(), that need not be whole.
 *
 * Context: analysis. Needs libm.
 */
#ifndef COMDET_BASE_INTERVAL_H
#define COMDET_BASE_INTERVAL_H

struct interval {
	double low, high;
};

/*
 * The interval of the share that @hits of @trials estimates (E. B. Wilson, JASA
 * 22, 1927), which also holds for few trials and for shares near 0 and 1. It is
 * 0 to 1 if there were no trials.
 */
struct interval interval_share(double hits, double trials);

/*
 * The interval of the mean of a Poisson distribution that gave @count
 * (F. Garwood, Biometrika 28, 1936):
 *
 *	chi2(0.025; 2 count) / 2 <= mean <= chi2(0.975; 2 count + 2) / 2
 *
 * Its relative error is below 1e-9. From 100,000 on it uses the approximation
 *of Wilson and Hilferty, whose error is below 1e-6 of the count there.
 */
struct interval interval_count(double count);

/*
 * Kish's effective number: (sum of weights)^2 / (sum of their squares), 0 if
 * there are none. The interval of a kind's weighted share is
 * interval_share(share * effective, effective).
 */
double interval_effective(double sum, double sum_of_squares);

#endif
