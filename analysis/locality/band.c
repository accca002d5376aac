/* SPDX-License-Identifier: MIT */
/*
 * band - the sampling error of a miss ratio
 *
 * The ratio m(C) = P(rd >= X), distance(X) = C, depends on the sample twice:
 * through the share above X, and through X. To first order a use of reuse
 * distance r and weight w moves it by w / W times
 *
 *	[r >= X] - m + slope (min(r, X) - C),    slope = -dm/dC
 *
 * since a stream with longer distances fills the cache sooner. The variance is
 * the sum of (w^2 - w) / W^2 times the square of that. A curve of steps has no
 * derivative, so the slope is taken across the interval that the error of
 * sampling gives the distance.
 *
 * The effect of phases on distances is taken as known, and everything here is
 * in distances of a single phase.
 *
 * A part of the stream has its own share above X. Its uses are only a few of
 * the stream's, so X is taken as given.
 *
 * The limits are Wilson's for as many uses of equal weight as would have this
 * variance. So they stay within 0 and 1, and the interval is not empty where
 * nothing or everything missed.
 */
#include <math.h>

#include "band.h"
#include "locality.h"
#include "phases.h"
#include "span.h"

#define Z_95 1.959963984540054

struct effect {
	double reach, lines, ratio, slope;
};

static double square(double x)
{
	return x * x;
}

/*
 * The squared effect of a use, averaged over a span. @never: it misses at any
 * X.
 */
static double span_effect(const struct effect *e, struct locality_span s,
			  int never)
{
	double miss = never ? 1 : locality_span_above(s, e->reach);
	double longer = locality_span_above(s, e->reach);
	double middle = (s.low + fmin(s.high, e->reach)) / 2;
	double sum = 0;

	/* Distances above X are cut to X; the others count at their middle. */
	if (longer > 0)
		sum += longer *
		       square(1 - e->ratio + e->slope * (e->reach - e->lines));
	if (longer < 1)
		sum += (1 - longer) * square((miss >= 1 ? 1 : 0) - e->ratio +
					     e->slope * (middle - e->lines));
	return sum;
}

static double bins_variance(const struct effect *e,
			    const struct reuse_mass *bins, int never)
{
	double sum = 0;

	for (uint32_t i = 0; i < REUSE_BINS; i++)
		if (bins[i].weight > 0)
			sum += reuse_mass_variance(&bins[i]) *
			       span_effect(e, locality_span(&bins[i], i),
					   never);
	return sum;
}

/* The expected rd, cut to @reach, of a use that the end cut off at @time. */
static double expected(const struct locality *l, double time, double reach,
		       double lines)
{
	double left, survival = locality_survival(l, time);

	if (time >= reach || !(survival > 0))
		return fmin(time, reach);
	left = lines - locality_uniform_distance(l, time);
	return fmin(reach, time + left / survival);
}

static double never_variance(const struct effect *e, const struct locality *l,
			     const struct reuse_histogram *part)
{
	double sum = 0;

	for (uint32_t i = 0; i < REUSE_BINS; i++) {
		const struct reuse_mass *m = &part->never[i];
		double x = 1 - e->ratio;

		if (!(m->weight > 0))
			continue;
		if (e->slope > 0)
			x += e->slope * (expected(l, reuse_mass_mean(m, i),
						  e->reach, e->lines) -
					 e->lines);
		sum += reuse_mass_variance(m) * x * x;
	}
	return sum;
}

/* The standard error of the distance at @reach. */
static double distance_error(const struct locality *l, double reach,
			     double lines)
{
	/* The same formula, for the distance itself instead of a ratio. */
	struct effect e = { reach, lines, 1, 1 };
	const struct reuse_histogram *h = l->stream;
	double sum = 0;

	for (uint32_t i = 0; i < REUSE_BINS; i++) {
		struct reuse_mass m = h->reuse[i];
		struct locality_span s;

		reuse_mass_merge(&m, &h->invalidated[i]);
		if (!(m.weight > 0))
			continue;
		s = locality_span(&m, i);
		sum += reuse_mass_variance(&m) *
		       square(fmin((s.low + s.high) / 2, reach) - lines);
	}
	sum += never_variance(&e, l, h);
	return sqrt(sum) / l->total;
}

static double miss_at(const struct locality *l, double lines)
{
	return locality_miss_from(l->stream, locality_uniform_reach(l, lines));
}

/* Minus the slope of the curve at @lines, over the distance's interval. */
static double slope_at(const struct locality *l, double lines, double reach)
{
	double delta = Z_95 * distance_error(l, reach, lines);
	double low = fmax(-0.5, lines - delta), high = lines + delta;

	if (!(high > low))
		return 0;
	return (miss_at(l, low) - miss_at(l, high)) / (high - low);
}

struct interval locality_band(const struct locality *l,
			      const struct reuse_histogram *part, double lines)
{
	struct reuse_mass total = reuse_histogram_total(part);
	double variance, n;
	struct effect e = {
		.reach = locality_reach(l, lines - 0.5),
		.lines = locality_unbent(l, lines - 0.5),
		.ratio = locality_miss_stack(l, part, lines),
	};

	if (!(total.weight > 0))
		return interval_share(0, 0);
	/* Beyond the longest reuse the curve is flat. */
	if (part == l->stream && e.reach <= l->point[l->points - 1].rd)
		e.slope = slope_at(l, e.lines, e.reach);
	variance = bins_variance(&e, part->reuse, 0) +
		   bins_variance(&e, part->invalidated, 1) +
		   never_variance(&e, l, part);
	variance /= square(total.weight);
	/* Every access was counted. */
	if (!(reuse_mass_variance(&total) > 0))
		return (struct interval){ e.ratio, e.ratio };
	n = square(total.weight) / reuse_mass_variance(&total);
	if (e.ratio > 0 && e.ratio < 1 && variance > 0)
		n = e.ratio * (1 - e.ratio) / variance;
	return interval_share(e.ratio * n, n);
}
