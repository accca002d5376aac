/* SPDX-License-Identifier: MIT */
/*
 * survival - reuse times to stack distances, in a stream of one phase
 *
 * The mass of a bin is spread evenly over its span, so survival is piecewise
 * linear and its integral, the distance, piecewise quadratic. Both are kept at
 * the points where survival bends.
 */
#include <math.h>

#include "survival.h"
#include "span.h"

static void add_point(struct locality *l, double rd, double survival)
{
	const struct locality_point *last = &l->point[l->points - 1];
	struct locality_point *p = &l->point[l->points++];

	p->rd = fmax(rd, last->rd);
	p->survival = survival;
	p->distance = last->distance +
		      (p->rd - last->rd) * (last->survival + survival) / 2;
}

/*
 * The product-limit estimate: of the uses still followed at a bin, the share
 * that ended in it (Kaplan and Meier, JASA 53, 1958). Uses that the end of the
 * stream cut off in a bin count as followed through half of it.
 */
void locality_init(struct locality *l, const struct reuse_histogram *stream)
{
	double followed, survival;

	l->stream = stream;
	l->total = reuse_histogram_total(stream).weight;
	l->footprint = reuse_histogram_never(stream).weight;
	l->points = 1;
	l->bends = 0;
	survival = l->total > 0;
	l->point[0] = (struct locality_point){ 0, survival, 0 };
	followed = l->total;
	for (uint32_t i = 0; i < REUSE_BINS; i++) {
		struct reuse_mass m = stream->reuse[i];
		double cut = stream->never[i].weight, at_risk;
		struct locality_span s;

		reuse_mass_merge(&m, &stream->invalidated[i]);
		if (m.weight > 0) {
			at_risk = fmax(followed - cut / 2, m.weight);
			s = locality_span(&m, i);
			add_point(l, s.low, survival);
			survival *= 1 - m.weight / at_risk;
			add_point(l, s.high, survival);
		}
		followed = fmax(followed - m.weight - cut, 0);
	}
}

/*
 * The last point whose rd is at most @rd, else the first one. Points are in the
 * order of rd, and so of distance.
 */
static const struct locality_point *before_rd(const struct locality *l,
					      double rd)
{
	size_t low = 0, high = l->points;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (l->point[middle].rd <= rd)
			low = middle;
		else
			high = middle;
	}
	return &l->point[low];
}

/* The last point whose distance is below @lines, else the first one. */
static const struct locality_point *before_distance(const struct locality *l,
						    double lines)
{
	size_t low = 0, high = l->points;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (l->point[middle].distance < lines)
			low = middle;
		else
			high = middle;
	}
	return &l->point[low];
}

/* How much survival falls with each access after @p. */
static double slope_after(const struct locality *l,
			  const struct locality_point *p)
{
	const struct locality_point *next = p + 1;

	if (next == &l->point[l->points] || !(next->rd > p->rd))
		return 0;
	return (p->survival - next->survival) / (next->rd - p->rd);
}

double locality_uniform_distance(const struct locality *l, double rd)
{
	const struct locality_point *p = before_rd(l, rd);
	double x = rd - p->rd;

	return p->distance + x * (p->survival - x * slope_after(l, p) / 2);
}

double locality_survival(const struct locality *l, double rd)
{
	const struct locality_point *p = before_rd(l, rd);

	return p->survival - (rd - p->rd) * slope_after(l, p);
}

double locality_uniform_reach(const struct locality *l, double lines)
{
	const struct locality_point *p;
	double missing, fall, root;

	if (lines <= 0)
		return 0;
	p = before_distance(l, lines);
	missing = lines - p->distance;
	fall = slope_after(l, p);
	/* survival x - fall x^2 / 2 = missing, the nearer solution */
	root = p->survival * p->survival - 2 * fall * missing;
	root = p->survival + sqrt(fmax(0, root));
	return root > 0 ? p->rd + 2 * missing / root : INFINITY;
}
