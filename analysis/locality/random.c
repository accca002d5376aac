/* SPDX-License-Identifier: MIT */
/*
 * random - StatCache: caches that evict lines at random
 *
 * Each miss evicts one of L lines, so with a miss ratio of R there are i R
 * evictions in i accesses, and a line survives them with probability (1 -
 * 1/L)^(i R). R is the ratio at which the stream has as many misses as this
 * predicts:
 *
 *	R W = h(inf) + sum over i of h(i) (1 - (1 - 1/L)^(i R))
 *
 * The right side is concave in R and at least 0 at 0, so the left, which is not
 * below it at 1, meets it at most once above 0. Newton's steps down from 1 stay
 * above that point and converge to it, since a tangent lies above a concave
 * curve.
 *
 * A miss that fills an empty place evicts nothing: the first L of the stream,
 * and later as many as there are invalidated uses whose line was still there.
 * The equation is therefore solved for the rate of evictions, the misses less
 * these. Its right side is concave as well, but may stay below the left: then
 * nothing is evicted.
 */
#include <math.h>

#include "random.h"
#include "span.h"

enum {
	STEPS_MAX = 100
};

struct survivors {
	double weight; /* not yet evicted */
	double slope;  /* derivative, by the rate of evictions */
};

/* The mean over a span of exp(-rate rd), times the weight of the bin. */
static void add_survivors(struct survivors *sum, const struct reuse_mass *m,
			  uint32_t bin, double rate)
{
	struct locality_span s = locality_span(m, bin);
	double width = s.high - s.low, x = rate * width;
	double start = m->weight * exp(-rate * s.low);
	double mean, slope;

	if (x < 1e-4) {
		mean = 1 - x / 2 + x * x / 6;
		slope = -0.5 + x / 3;
	} else {
		mean = -expm1(-x) / x;
		slope = (exp(-x) - mean) / x;
	}
	sum->weight += start * mean;
	sum->slope += start * (width * slope - s.low * mean);
}

static struct survivors survivors(const struct reuse_mass *bins, double rate)
{
	struct survivors sum = { 0, 0 };

	for (uint32_t i = 0; i < REUSE_BINS; i++)
		if (bins[i].weight > 0)
			add_survivors(&sum, &bins[i], i, rate);
	return sum;
}

/* Lines evicted per access of @stream in a cache of @lines. */
static double evictions(const struct reuse_histogram *stream, double total,
			double lines)
{
	double loss = -log1p(-1 / lines), rate = 1;

	for (int i = 0; i < STEPS_MAX; i++) {
		struct survivors hit = survivors(stream->reuse, loss * rate);
		struct survivors hole =
			survivors(stream->invalidated, loss * rate);
		double excess =
			1 - (hit.weight + hole.weight + lines) / total - rate;
		double slope = -loss * (hit.slope + hole.slope) / total - 1;
		double step;

		if (!(slope < 0))
			return 0;
		step = excess / slope;
		rate = fmax(0, rate - step);
		if (fabs(step) < 1e-12)
			break;
	}
	return loss * rate;
}

double locality_miss_random(const struct locality *l,
			    const struct reuse_histogram *part, double lines)
{
	double total = reuse_histogram_total(part).weight, rate, hit = 0;

	if (!(total > 0))
		return 0;
	if (lines > 1 && l->total > 0) {
		rate = evictions(l->stream, l->total, lines);
		hit = survivors(part->reuse, rate).weight;
	} else {
		/* With one line only a reuse by the very next access hits. */
		hit = part->reuse[1].weight;
	}
	return fmax(0, 1 - hit / total);
}
