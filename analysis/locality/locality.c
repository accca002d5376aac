/* SPDX-License-Identifier: MIT */
/*
 * locality - reuse times to stack distances to miss ratios
 *
 * With the mass of a bin spread evenly over its span, survival is piecewise
 * linear and its integral, the distance, piecewise quadratic; both are kept at
 * the bends. The distance never falls, so a cache size has one reuse distance
 * from which on accesses miss, and a ratio is a sum over the bins above it.
 */
#include <math.h>

#include "locality.h"

struct locality_span locality_span(const struct reuse_mass *m, uint32_t bin)
{
	double low = (double)reuse_bin_low(bin);
	double high = (double)reuse_bin_high(bin) - 1;
	double mean = low + m->offset / m->weight, shift, spread, half;
	struct locality_span s;

	/* n whole numbers in a row have variance (n^2 - 1) / 12. */
	shift = m->offset / m->weight;
	spread = fmax(0, m->offset_squares / m->weight - shift * shift);
	half = (sqrt(12 * spread + 1) - 1) / 2;
	s.low = fmax(mean - half, low) - 1;
	s.high = fmin(mean + half, high) - 1;
	return s;
}

double locality_span_above(struct locality_span s, double rd)
{
	if (s.low >= rd)
		return 1;
	if (s.high <= rd)
		return 0;
	return (s.high - rd) / (s.high - s.low);
}

double locality_never(const struct reuse_histogram *part)
{
	return reuse_histogram_invalidated(part).weight +
	       reuse_histogram_never(part).weight;
}

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
 * The product-limit estimate: of what was still followed at a bin, the share
 * that ended in it (Kaplan and Meier, JASA 53, 1958). What the end of the
 * stream cut off in a bin was followed through half of it.
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

/* The last point at or before @key; points are ordered by both. */
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

/* By how much survival falls for each access after @p. */
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

double locality_distance(const struct locality *l, double rd)
{
	return locality_bent(l, locality_uniform_distance(l, rd));
}

double locality_reach(const struct locality *l, double lines)
{
	return locality_uniform_reach(l, locality_unbent(l, lines));
}

double locality_miss_from(const struct reuse_histogram *part, double rd)
{
	double total = reuse_histogram_total(part).weight;
	double miss = locality_never(part);

	if (!(total > 0))
		return 0;
	for (uint32_t i = REUSE_BINS; i-- > 0;) {
		const struct reuse_mass *m = &part->reuse[i];

		if ((double)reuse_bin_high(i) <= rd)
			break;
		if (m->weight > 0)
			miss += m->weight *
				locality_span_above(locality_span(m, i), rd);
	}
	return fmin(1, miss / total);
}

double locality_miss_stack(const struct locality *l,
			   const struct reuse_histogram *part, double lines)
{
	return locality_miss_from(part, locality_reach(l, lines - 0.5));
}

/*
 * A line that is not touched is out after A accesses, A the least number for
 * which the sum of P(T > t) over t < A is the cache's size. That sum is one
 * more than distance(A - 1). Times are whole: what is above A is A + 1 or more,
 * and one half keeps rounding out of it.
 */
double locality_miss_aet(const struct locality *l,
			 const struct reuse_histogram *part, double lines)
{
	double rd = locality_reach(l, lines - 1);

	if (lines < 1)
		return locality_miss_from(part, 0);
	return locality_miss_from(part, ceil(rd * (1 - 1e-12) - 1e-6) + 0.5);
}
