/* SPDX-License-Identifier: MIT */
/*
 * phases - streams whose locality changes as they go on
 *
 * A program that builds a table and then looks things up in it has two kinds of
 * windows between use and reuse. locality_bend() gives a stream, for each bin
 * of reuse times, the mean distance of the uses of that bin in the phases that
 * their windows met.
 *
 * Context: analysis. Does not allocate.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_PHASES_H
#define COMDET_ANALYSIS_LOCALITY_PHASES_H

#include "survival.h"

/* A part of a stream, which ends where the next one starts. */
struct locality_phase {
	const struct locality *in; /* of the uses in this part alone */
	double start;              /* accesses before it */
	double uses, error;        /* set by locality_bend() */
};

/* @phase: @phases parts of @l in their order, each start above the last. */
void locality_bend(struct locality *l, struct locality_phase *phase,
		   size_t phases);

/*
 * The standard error of the distance near @distance, as a part of it; NAN in a
 * stream of one phase.
 */
double locality_bent_error(const struct locality *l, double distance);

/* Turn a distance in a stream of one phase into the one with all phases. */
double locality_bent(const struct locality *l, double distance);

/* The least distance that locality_bent() maps to @distance or more. */
double locality_unbent(const struct locality *l, double distance);

#endif
