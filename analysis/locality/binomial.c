/* SPDX-License-Identifier: MIT */
/*
 * binomial - miss ratios where the number of lines in between is random
 *
 * Shen's formula: each of the other lines of the footprint is touched in
 * between with the same probability, so the stack distance is binomial and
 * StatStack's is its mean. In a set-associative cache, each line in between
 * falls into the same set with the same probability.
 */
#include <math.h>

#include "binomial.h"
#include "locality.h"

enum {
	NODES = 4,
	TERMS_MAX = 10000
};

#define NORMAL_FROM 2000. /* variance above which it is nearly normal */

/* The continued fraction of the incomplete beta function, by Lentz's method
 * (Abramowitz and Stegun 26.5.8); converges fast for x < (a + 1) / (a + b + 2).
 */
static double beta_fraction(double x, double a, double b)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	h = d;
	for (int m = 1; m < TERMS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x /
			     ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < 1e-14)
			break;
	}
	return h;
}

/* I_x(a, b), 0 < x < 1. */
static double incomplete_beta(double x, double a, double b)
{
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) +
			   b * log1p(-x));

	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(1 - x, b, a) / b;
}

double binomial_tail(double n, double p, double k)
{
	double spread = n * p * (1 - p), z, skew;

	if (k <= 0)
		return 1;
	if (n <= k - 1 || p <= 0)
		return 0;
	if (p >= 1)
		return 1;
	if (spread < NORMAL_FROM)
		return incomplete_beta(p, k, n - k + 1);
	/* The normal distribution, corrected for skewness (Edgeworth). */
	z = (k - 0.5 - n * p) / sqrt(spread);
	skew = (1 - 2 * p) / sqrt(spread);
	return fmin(1, fmax(0, erfc(z / sqrt(2)) / 2 + skew / 6 * (z * z - 1) *
							       exp(-z * z / 2) /
							       sqrt(2 * M_PI)));
}

typedef double miss_at(const void *cache, double distance);

/* Average @miss over @s with Gauss-Legendre nodes. */
static double over_span(const struct locality *l, struct locality_span s,
			miss_at *miss, const void *cache)
{
	static const double node[NODES] = { -0.861136311594052575,
					    -0.339981043584856265,
					    0.339981043584856265,
					    0.861136311594052575 };
	static const double weight[NODES] = { 0.173927422568726929,
					      0.326072577431273071,
					      0.326072577431273071,
					      0.173927422568726929 };
	double centre = (s.low + s.high) / 2, half = (s.high - s.low) / 2;
	double sum = 0;

	if (!(half > 0))
		return miss(cache, locality_distance(l, centre));
	for (int i = 0; i < NODES; i++) {
		double rd = centre + half * node[i];

		sum += weight[i] * miss(cache, locality_distance(l, rd));
	}
	return sum;
}

static double average(const struct locality *l,
		      const struct reuse_histogram *part, miss_at *miss,
		      const void *cache)
{
	double total = reuse_histogram_total(part).weight;
	double sum = locality_never(part);

	if (!(total > 0))
		return 0;
	for (uint32_t i = 0; i < REUSE_BINS; i++) {
		const struct reuse_mass *m = &part->reuse[i];

		if (m->weight > 0)
			sum += m->weight *
			       over_span(l, locality_span(m, i), miss, cache);
	}
	return fmin(1, sum / total);
}

struct whole_cache {
	double others; /* lines of the footprint, less one */
	double lines;
};

static double miss_in_whole(const void *cache, double distance)
{
	const struct whole_cache *c = cache;

	return binomial_tail(c->others, distance / c->others, c->lines);
}

double locality_miss_shen(const struct locality *l,
			  const struct reuse_histogram *part, double lines)
{
	struct whole_cache c = { l->footprint - 1, lines };

	if (c.others < 1)
		return locality_miss_stack(l, part, lines);
	return average(l, part, miss_in_whole, &c);
}

struct set_cache {
	double sets, ways;
};

static double miss_in_set(const void *cache, double distance)
{
	const struct set_cache *c = cache;

	if (c->sets <= 1)
		return distance >= c->ways - 0.5;
	return binomial_tail(distance, 1 / c->sets, c->ways);
}

double locality_span_ways(const struct locality *l, struct locality_span s,
			  uint64_t sets, uint32_t ways)
{
	struct set_cache c = { (double)sets, ways };

	return over_span(l, s, miss_in_set, &c);
}

double locality_miss_ways(const struct locality *l,
			  const struct reuse_histogram *part, uint64_t sets,
			  uint32_t ways)
{
	struct set_cache c = { (double)sets, ways };

	if (sets <= 1)
		return locality_miss_stack(l, part, ways);
	return average(l, part, miss_in_set, &c);
}
