/* SPDX-License-Identifier: MIT */
/*
 * band - how far a miss ratio may be off
 *
 * The ratio m(C) = P(rd >= X), distance(X) = C, is off for three reasons.
 *
 * The share above X is that of a sample: a use of weight w moves it by w / W
 * times [r >= X] - m, and the variance is the sum of (w^2 - w) / W^2 times the
 * square of that. The limits are Wilson's for as many uses of equal weight as
 * would have this variance. So they stay within 0 and 1, and the interval is
 * not empty where nothing or everything missed.
 *
 * The distance at X is the mean of min(r, X) over the same sample. It is off by
 * a factor, and the true ratio is that of a cache which is larger or smaller by
 * this factor. A curve of steps has no slope, so both ratios are read off the
 * curve. A sample with too many long reuses has too large a share above X, and
 * too small an X. So these two errors add up.
 *
 * The model takes the window of a reuse for one like others in its phase. What
 * phases changed in the distance shows how unlike windows are: distances are
 * taken to be uncertain by as much again, and by MODEL_OCTAVES in any case
 * (docs/stack-distance.md says on which programs this was chosen). This error
 * has nothing to do with the sample: its square is added.
 */
#include <math.h>

#include "band.h"
#include "locality.h"
#include "phases.h"
#include "span.h"

#define Z_95          1.959963984540054
#define MODEL_OCTAVES 0.4 /* of distances, at 95 % */
#define OCTAVES_MAX   8.0

static double square(double x)
{
	return x * x;
}

/* The variance of the weight above @reach, if a share @ratio is above. */
static double share_variance(const struct reuse_mass *bins, double reach,
			     double ratio)
{
	double sum = 0;

	for (uint32_t i = 0; i < REUSE_BINS; i++) {
		double above;

		if (!(bins[i].weight > 0))
			continue;
		above = locality_span_above(locality_span(&bins[i], i), reach);
		sum += reuse_mass_variance(&bins[i]) *
		       (above * square(1 - ratio) +
			(1 - above) * square(ratio));
	}
	return sum;
}

/* Wilson's limits of the share of @part that misses. */
static struct interval share_limits(const struct reuse_histogram *part,
				    double reach, double ratio)
{
	struct reuse_mass total = reuse_histogram_total(part);
	double n = square(total.weight) / reuse_mass_variance(&total);
	double variance = share_variance(part->reuse, reach, ratio) +
			  share_variance(part->invalidated, 0, ratio) +
			  share_variance(part->never, 0, ratio);

	variance /= square(total.weight);
	if (ratio > 0 && ratio < 1 && variance > 0)
		n = ratio * (1 - ratio) / variance;
	return interval_share(ratio * n, n);
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

/* The standard error of the distance @lines at @reach, in a single phase. */
static double distance_error(const struct locality *l, double reach,
			     double lines)
{
	const struct reuse_histogram *h = l->stream;
	double sum = 0;

	for (uint32_t i = 0; i < REUSE_BINS; i++) {
		struct reuse_mass m = h->reuse[i];
		const struct reuse_mass *never = &h->never[i];
		struct locality_span s;

		reuse_mass_merge(&m, &h->invalidated[i]);
		if (m.weight > 0) {
			s = locality_span(&m, i);
			sum += reuse_mass_variance(&m) *
			       square(fmin((s.low + s.high) / 2, reach) -
				      lines);
		}
		if (never->weight > 0)
			sum += reuse_mass_variance(never) *
			       square(expected(l, reuse_mass_mean(never, i),
					       reach, lines) -
				      lines);
	}
	return sqrt(sum) / l->total;
}

/* How far the sample may move the distance at @lines, in octaves. */
static double sampled_octaves(const struct locality *l, double lines)
{
	double part = locality_bent_error(l, lines);
	double last = l->point[l->points - 1].rd, reach;

	if (isnan(part)) {
		reach = fmin(locality_uniform_reach(l, lines), last);
		part = distance_error(l, reach,
				      locality_uniform_distance(l, reach)) /
		       lines;
	}
	return fmin(Z_95 * part / M_LN2, OCTAVES_MAX);
}

/* How far the model may be off at @lines, in octaves. */
static double model_octaves(const struct locality *l, double lines)
{
	double bent = log2(lines / locality_unbent(l, lines));

	return fmin(hypot(MODEL_OCTAVES, isfinite(bent) ? bent : 0),
		    OCTAVES_MAX);
}

struct interval locality_band(const struct locality *l,
			      const struct reuse_histogram *part, double lines)
{
	struct reuse_mass total = reuse_histogram_total(part);
	double ratio = locality_miss_stack(l, part, lines);
	double sampled, octaves, together, down, up, fall, rise;
	struct interval v;

	if (!(total.weight > 0))
		return interval_share(0, 0);
	/* Every access was counted. */
	if (!(reuse_mass_variance(&total) > 0))
		return (struct interval){ ratio, ratio };
	v = share_limits(part, locality_reach(l, lines - 0.5), ratio);
	sampled = sampled_octaves(l, lines - 0.5);
	octaves = hypot(sampled, model_octaves(l, lines - 0.5));
	together = sampled / octaves;
	fall = ratio - locality_miss_stack(l, part, lines * exp2(octaves));
	rise = locality_miss_stack(l, part, lines / exp2(octaves)) - ratio;
	down = ratio - v.low;
	up = v.high - ratio;
	down = sqrt(down * down + fall * fall + 2 * together * down * fall);
	up = sqrt(up * up + rise * rise + 2 * together * up * rise);
	return (struct interval){ fmax(0, ratio - down), fmin(1, ratio + up) };
}
