/* SPDX-License-Identifier: MIT */
/*
 * mrc - miss ratio curves: the miss ratio of a stream at each cache size
 */
#include <math.h>

#include "mrc.h"
#include "band.h"
#include "binomial.h"
#include "random.h"
#include "span.h"
#include "analysis/base/util.h"

void mrc_compute(struct mrc *m, const struct locality *l,
		 const struct reuse_histogram *part, uint32_t line_bytes)
{
	for (int i = 0; i < MRC_POINTS; i++) {
		struct mrc_point *p = &m->point[i];
		double octave = MRC_OCTAVE_MIN + (double)i / MRC_OCTAVE_POINTS;
		double lines;

		p->bytes = exp2(octave);
		lines = fmax(1, floor(p->bytes / line_bytes));
		p->lru = locality_miss_stack(l, part, lines);
		p->by = locality_band(l, part, lines);
		p->random = p->aet = NAN;
		if (i % MRC_OCTAVE_POINTS)
			continue;
		p->random = locality_miss_random(l, part, lines);
		p->aet = locality_miss_aet(l, part, lines);
	}
}

struct mrc_cache mrc_cache(const struct locality *l,
			   const struct reuse_histogram *part,
			   const struct host_cache *cache)
{
	double lines = (double)(cache->bytes / cache->line_bytes);
	double whole = locality_miss_stack(l, part, lines), moved;
	struct mrc_cache c = { .cache = cache,
			       .whole = whole,
			       .simulated = NAN };

	c.miss_ratio = whole;
	if (cache->sets > 1)
		c.miss_ratio =
			locality_miss_ways(l, part, cache->sets, cache->ways);
	moved = c.miss_ratio - whole;
	c.by = locality_band(l, part, lines);
	c.by.low = fmax(0, c.by.low + moved);
	c.by.high = fmin(1, c.by.high + moved);
	return c;
}

/* The errors of different streams are independent, so their squares add up. */
static double add_error(double a, double weight, double b, double w)
{
	return sqrt(a * a * weight * weight + b * b * w * w) / (weight + w);
}

static void add_ratio(double *ratio, struct interval *by, double weight,
		      double r, struct interval v, double w)
{
	double mean = (*ratio * weight + r * w) / (weight + w);
	double below = add_error(*ratio - by->low, weight, r - v.low, w);
	double above = add_error(by->high - *ratio, weight, v.high - r, w);

	*ratio = mean;
	by->low = fmax(0, mean - below);
	by->high = fmin(1, mean + above);
}

void mrc_add(struct mrc *sum, double weight, const struct mrc *m, double w)
{
	if (!(weight > 0)) {
		*sum = *m;
		return;
	}
	if (!(w > 0))
		return;
	for (int i = 0; i < MRC_POINTS; i++) {
		struct mrc_point *to = &sum->point[i];
		const struct mrc_point *from = &m->point[i];

		add_ratio(&to->lru, &to->by, weight, from->lru, from->by, w);
		to->random =
			(to->random * weight + from->random * w) / (weight + w);
		to->aet = (to->aet * weight + from->aet * w) / (weight + w);
	}
}

void mrc_cache_add(struct mrc_cache *sum, double weight,
		   const struct mrc_cache *c, double w)
{
	if (!(weight > 0)) {
		*sum = *c;
	} else if (w > 0) {
		add_ratio(&sum->miss_ratio, &sum->by, weight, c->miss_ratio,
			  c->by, w);
		sum->whole =
			(sum->whole * weight + c->whole * w) / (weight + w);
	}
}

double mrc_distances_from(const struct reuse_histogram *distances, double lines)
{
	double total = reuse_histogram_total(distances).weight;
	double miss = locality_never(distances);

	if (!(total > 0))
		return 0;
	/*
	 * locality_span() takes one less than each value, so compare with that.
	 */
	for (uint32_t i = reuse_bin_of((uint64_t)lines); i < REUSE_BINS; i++) {
		const struct reuse_mass *m = &distances->reuse[i];

		if (m->weight > 0)
			miss += m->weight *
				locality_span_above(locality_span(m, i),
						    lines - 1.5);
	}
	return fmin(1, miss / total);
}

void mrc_of_distances(struct mrc *m, const struct reuse_histogram *distances,
		      uint32_t line_bytes)
{
	for (int i = 0; i < MRC_POINTS; i++) {
		struct mrc_point *p = &m->point[i];

		p->bytes = exp2(MRC_OCTAVE_MIN + (double)i / MRC_OCTAVE_POINTS);
		p->lru = mrc_distances_from(
			distances, fmax(1, floor(p->bytes / line_bytes)));
		p->by = (struct interval){ p->lru, p->lru };
		p->random = p->aet = NAN;
	}
}

double mrc_top(const struct mrc *m)
{
	static const double tops[] = { 1, 2, 5, 10, 20, 50 };
	double most = 0;

	for (int i = 0; i < MRC_POINTS; i++)
		most = fmax(most,
			    100 * fmax(m->point[i].lru, m->point[i].by.high));
	for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++)
		if (most <= tops[i])
			return tops[i];
	return 100;
}

const char *size_text(double bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
	char text[32];
	int unit = 0;

	while (bytes >= 1024 && unit < 3) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, sizeof(text), bytes < 100 ? "%.3g %s" : "%.0f %s", bytes,
		 units[unit]);
	return safe_text(text);
}
