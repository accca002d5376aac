/* SPDX-License-Identifier: MIT */
/*
 * phases - streams whose locality changes as they go on
 *
 * A program that builds a table and then looks things up in it has two kinds of
 * windows between use and reuse. Call locality_phase() for each phase of the
 * stream, then locality_bend(): it gives the stream, for each bin of reuse
 * times, the mean distance over the phases in which the uses of that bin were.
 *
 * Context: analysis. Does not allocate.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_PHASES_H
#define COMDET_ANALYSIS_LOCALITY_PHASES_H

#include "survival.h"

/* Sums over phases; zeroed before the first. */
struct locality_phases {
	uint32_t phases;
	double weight[REUSE_BINS], distance[REUSE_BINS];
};

/* Add @phase, a part of @l of @width accesses with a histogram of its own. */
void locality_phase(struct locality_phases *p, const struct locality *l,
		    const struct locality *phase, double width);

void locality_bend(struct locality *l, const struct locality_phases *p);

/* Turn a distance in a stream of one phase into the one with all phases. */
double locality_bent(const struct locality *l, double distance);

/* The least distance that locality_bent() maps to @distance or more. */
double locality_unbent(const struct locality *l, double distance);

#endif
