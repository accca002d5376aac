/* SPDX-License-Identifier: MIT */
/*
 * interval - confidence intervals of shares and counts of detections
 *
 * Garwood's limits are quantiles of the gamma distribution: the low one of
 * shape count, the high one of shape count + 1. The regularized incomplete
 * gamma function is computed by its series below the mean and by its
 * continued fraction above (Abramowitz and Stegun 6.5.29 and 6.5.31), and
 * inverted by bisection, which cannot fail to converge.
 */
#include <math.h>

#include "interval.h"

#define Z_95 1.959963984540054 /* normal quantile of 0.975 */
#define TAIL 0.025

enum {
	APPROXIMATE_FROM = 100000,
	BISECTIONS = 200,
	TERMS_MAX = 100000
};

static double gamma_series(double a, double x, double factor)
{
	double term = 1 / a, sum = term;

	for (int i = 1; i < TERMS_MAX && term > sum * 1e-16; i++) {
		term *= x / (a + i);
		sum += term;
	}
	return factor * sum;
}

/* Lentz's method; the upper tail. */
static double gamma_fraction(double a, double x, double factor)
{
	const double tiny = 1e-300;
	double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;

	for (int i = 1; i < TERMS_MAX; i++) {
		double an = -i * (i - a), delta;

		b += 2;
		d = an * d + b;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = b + an / c;
		c = fabs(c) < tiny ? tiny : c;
		delta = c * d;
		h *= delta;
		if (fabs(delta - 1) < 1e-15)
			break;
	}
	return factor * h;
}

/* P(a, x): the probability that a gamma variate of shape @a is below @x. */
static double gamma_below(double a, double x)
{
	double factor;

	if (x <= 0)
		return 0;
	factor = exp(a * log(x) - x - lgamma(a));
	if (x < a + 1)
		return gamma_series(a, x, factor);
	return 1 - gamma_fraction(a, x, factor);
}

/* Wilson and Hilferty, PNAS 17, 1931: chi-square by a normal distribution. */
static double gamma_quantile_approximate(double a, double z)
{
	double t = 1 - 1 / (9 * a) + z / (3 * sqrt(a));

	return a * t * t * t;
}

static double gamma_quantile(double a, double p, double z)
{
	double low, high;

	if (a >= APPROXIMATE_FROM)
		return gamma_quantile_approximate(a, z);
	low = 0;
	high = a + 10 * sqrt(a) + 10;
	for (int i = 0; i < BISECTIONS && high - low > 1e-13 * high; i++) {
		double middle = low + (high - low) / 2;

		if (gamma_below(a, middle) < p)
			low = middle;
		else
			high = middle;
	}
	return low + (high - low) / 2;
}

struct interval interval_share(double hits, double trials)
{
	struct interval i = { 0, 1 };
	double p, z2 = Z_95 * Z_95, centre, half;

	if (!(trials > 0))
		return i;
	p = hits / trials;
	p = p < 0 ? 0 : p > 1 ? 1 : p;
	centre = p + z2 / (2 * trials);
	half = Z_95 * sqrt(p * (1 - p) / trials + z2 / (4 * trials * trials));
	/* Rounding must not move a limit off 0 or 1. */
	if (p > 0)
		i.low = fmax(0, (centre - half) / (1 + z2 / trials));
	if (p < 1)
		i.high = fmin(1, (centre + half) / (1 + z2 / trials));
	return i;
}

struct interval interval_count(double count)
{
	struct interval i = { 0, 0 };

	if (!(count > 0))
		count = 0;
	if (count > 0)
		i.low = gamma_quantile(count, TAIL, -Z_95);
	i.high = gamma_quantile(count + 1, 1 - TAIL, Z_95);
	return i;
}

double interval_effective(double sum, double sum_of_squares)
{
	return sum_of_squares > 0 ? sum * sum / sum_of_squares : 0;
}
