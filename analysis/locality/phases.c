/* SPDX-License-Identifier: MIT */
/*
 * phases - streams whose locality changes as they go on
 *
 * StatStack takes every window between use and reuse for an average one. In a
 * program with phases it is not: gzip searches for a while and then writes out
 * what it found. Its long reuses all belong to the search, whose windows hold
 * more lines than the average of both phases.
 *
 * The k-th access from the end of a window is the last one to its line if its
 * own reuse distance is k or more. The phase that this access is in says how
 * likely that is. So the distance of a reuse is the sum over the phases that
 * its window meets, and the mean over the uses, by bin of the reuse time, is
 * kept: again one function of the time. Where in its phase a use was is not
 * known; it counts as spread evenly.
 */
#include <math.h>

#include "phases.h"

enum {
	PLACES = 3, /* of a use in its phase */
};

/* Sums over the uses of a bin. */
struct bin_sum {
	double weight, distance, variance;
};

/*
 * Add the lines that the accesses of @p from @start to @to bring to a window up
 * to @end. They are the mean of a value between 0 and the length of the part
 * over the uses of the phase, so its variance is at most that of one that is
 * only 0 or that length.
 */
static double add_lines(struct locality_phase *p, double start, double to,
			double end, double weight)
{
	double lines = locality_uniform_distance(p->in, end - start) -
		       locality_uniform_distance(p->in, end - to);

	p->error +=
		weight * sqrt(fmax(0, lines * (to - start - lines)) / p->uses);
	return weight * lines;
}

/* @weight times the distance of a reuse from @start in phase @i to @end. */
static double window_lines(struct locality_phase *phase, size_t phases,
			   size_t i, double start, double end, double weight)
{
	double sum = 0;

	for (; start < end; i++) {
		double to = end;

		if (i + 1 < phases && phase[i + 1].start < end)
			to = phase[i + 1].start;
		sum += add_lines(&phase[i], start, to, end, weight);
		start = to;
	}
	return sum;
}

/* Add the uses of phase @i with reuse distance @rd. */
static void add_uses(struct bin_sum *sum, struct locality_phase *phase,
		     size_t phases, size_t i, double rd, double weight)
{
	double width;

	/* The last phase is taken to be as long as the one before it. */
	width = i + 1 < phases ? phase[i + 1].start - phase[i].start
			       : phase[i].start - phase[i - 1].start;
	for (int k = 0; k < PLACES; k++) {
		double start = phase[i].start + width * (k + 0.5) / PLACES;

		sum->distance += window_lines(phase, phases, i, start,
					      start + rd, weight / PLACES);
	}
	sum->weight += weight;
}

/* All windows know a phase by the same uses, so their errors are one. */
static struct bin_sum sum_bin(struct locality_phase *phase, size_t phases,
			      uint32_t bin)
{
	struct bin_sum sum = { 0, 0, 0 };

	for (size_t i = 0; i < phases; i++)
		phase[i].error = 0;
	for (size_t i = 0; i < phases; i++) {
		const struct reuse_mass *m = &phase[i].in->stream->reuse[bin];

		if (m->weight > 0)
			add_uses(&sum, phase, phases, i,
				 reuse_mass_mean(m, bin) - 1, m->weight);
	}
	for (size_t i = 0; i < phases; i++)
		sum.variance += phase[i].error * phase[i].error;
	return sum;
}

/* As many uses of equal weight would have the same variance. */
static double effective_uses(const struct reuse_histogram *h)
{
	struct reuse_mass m = reuse_histogram_total(h);
	double variance = reuse_mass_variance(&m);

	return variance > 0 ? m.weight * m.weight / variance : INFINITY;
}

/* Bins next to each other whose means would fall are one block. */
struct block {
	double weight, distance, error;
	size_t bends;
};

static double block_mean(const struct block *b)
{
	return b->distance / b->weight;
}

/*
 * The distances that never fall and are nearest to the means, by weighted least
 * squares: pool adjacent violators (Ayer and others, 1955). A running maximum
 * would carry the error of one bin to all longer times.
 */
void locality_bend(struct locality *l, struct locality_phase *phase,
		   size_t phases)
{
	struct block block[REUSE_BINS];
	size_t blocks = 0, bends = 0;
	double uniform = 0;

	l->bends = 0;
	if (phases < 2)
		return;
	for (size_t i = 0; i < phases; i++)
		phase[i].uses = effective_uses(phase[i].in->stream);
	for (uint32_t i = 0; i < REUSE_BINS; i++) {
		const struct reuse_mass *m = &l->stream->reuse[i];
		struct bin_sum sum;
		struct block b;
		double at;

		if (!(m->weight > 0))
			continue;
		sum = sum_bin(phase, phases, i);
		if (!(sum.weight > 0))
			continue;
		b = (struct block){ sum.weight, sum.distance,
				    sqrt(sum.variance), 0 };
		at = locality_uniform_distance(l, reuse_mass_mean(m, i) - 1);
		if (at > uniform || !bends) {
			l->bend[bends++].uniform = uniform = at;
			b.bends = 1;
		}
		while (blocks &&
		       (block_mean(&block[blocks - 1]) >= block_mean(&b) ||
			!b.bends)) {
			blocks--;
			b.weight += block[blocks].weight;
			b.distance += block[blocks].distance;
			b.error += block[blocks].error;
			b.bends += block[blocks].bends;
		}
		block[blocks++] = b;
	}
	for (size_t i = 0; i < blocks; i++)
		for (size_t k = 0; k < block[i].bends; k++) {
			struct locality_bend *to = &l->bend[l->bends++];

			to->distance = block_mean(&block[i]);
			to->error = to->distance > 0
					    ? block[i].error / block[i].distance
					    : 0;
		}
}

double locality_bent_error(const struct locality *l, double distance)
{
	size_t i = 0;

	while (i + 1 < l->bends && l->bend[i].distance < distance)
		i++;
	return l->bends ? l->bend[i].error : NAN;
}

static double between(double x, double x0, double x1, double y0, double y1)
{
	return x1 > x0 ? y0 + (x - x0) / (x1 - x0) * (y1 - y0) : y1;
}

double locality_bent(const struct locality *l, double distance)
{
	struct locality_bend last = { 0, 0, 0 };

	for (size_t i = 0; i < l->bends; i++) {
		const struct locality_bend *b = &l->bend[i];

		if (distance < b->uniform)
			return between(distance, last.uniform, b->uniform,
				       last.distance, b->distance);
		last = *b;
	}
	return last.distance + (distance - last.uniform);
}

/* The least distance that locality_bent() maps to @distance or more. */
double locality_unbent(const struct locality *l, double distance)
{
	struct locality_bend last = { 0, 0, 0 };

	for (size_t i = 0; i < l->bends; i++) {
		const struct locality_bend *b = &l->bend[i];

		if (distance <= b->distance)
			return distance <= last.distance
				       ? fmin(distance, last.uniform)
				       : between(distance, last.distance,
						 b->distance, last.uniform,
						 b->uniform);
		last = *b;
	}
	return last.uniform + (distance - last.distance);
}
