/* SPDX-License-Identifier: MIT */
/*
 * phases - streams whose locality changes as they go on
 *
 * StatStack takes every window between use and reuse for an average one. In a
 * program with phases it is not: gzip searches for a while and then writes out
 * what it found. Its long reuses all belong to the search, whose windows hold
 * more lines than the average of both phases. So the distance of a reuse is
 * taken from the phase of its use, and the mean over the phases, by bin of the
 * reuse time, is kept: again one function of the time.
 *
 * The part of a reuse that is longer than its phase is converted with the
 * distances of all phases together.
 */
#include <math.h>

#include "phases.h"

static double distance_in(const struct locality *l,
			  const struct locality *phase, double width, double rd)
{
	double inside = fmin(rd, width);

	return locality_uniform_distance(phase, inside) +
	       locality_uniform_distance(l, rd) -
	       locality_uniform_distance(l, inside);
}

void locality_phase(struct locality_phases *p, const struct locality *l,
		    const struct locality *phase, double width)
{
	for (uint32_t i = 0; i < REUSE_BINS; i++) {
		const struct reuse_mass *m = &phase->stream->reuse[i];

		if (!(m->weight > 0))
			continue;
		p->weight[i] += m->weight;
		p->distance[i] +=
			m->weight *
			distance_in(l, phase, width, reuse_mass_mean(m, i) - 1);
	}
	p->phases++;
}

void locality_bend(struct locality *l, const struct locality_phases *p)
{
	double uniform = 0, distance = 0;

	l->bends = 0;
	if (p->phases < 2)
		return;
	for (uint32_t i = 0; i < REUSE_BINS; i++) {
		const struct reuse_mass *m = &l->stream->reuse[i];
		double at;

		if (!(p->weight[i] > 0) || !(m->weight > 0))
			continue;
		at = locality_uniform_distance(l, reuse_mass_mean(m, i) - 1);
		distance = fmax(distance, p->distance[i] / p->weight[i]);
		if (at > uniform || !l->bends)
			l->bends++;
		uniform = at;
		l->bend[l->bends - 1] =
			(struct locality_bend){ uniform, distance };
	}
}

static double between(double x, double x0, double x1, double y0, double y1)
{
	return x1 > x0 ? y0 + (x - x0) / (x1 - x0) * (y1 - y0) : y1;
}

double locality_bent(const struct locality *l, double distance)
{
	struct locality_bend last = { 0, 0 };

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
	struct locality_bend last = { 0, 0 };

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
