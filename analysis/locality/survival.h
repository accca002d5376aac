/* SPDX-License-Identifier: MIT */
/*
 * survival - reuse times to stack distances, in a stream of one phase
 *
 * A histogram of reuse times (src/engine/reuse_histogram.h) says how long after
 * an access its line is accessed again; a cache asks how many other lines were
 * accessed in between. docs/stack-distance.md has the derivations; in short,
 * with rd = reuse time - 1 and E over the whole stream, an access of reuse
 * distance r finds
 *
 *	distance(r) = E[min(rd, r)]
 *
 * distinct lines in between: of the r accesses, the k-th from the end is the
 * last to its line if its own rd is k or more (StatStack: Eklov and Hagersten,
 * ISPASS 2010). Of a use that the end of the stream cut off, only the time for
 * which it was followed is used.
 *
 * Context: analysis. Does not allocate. Needs libm.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_SURVIVAL_H
#define COMDET_ANALYSIS_LOCALITY_SURVIVAL_H

#include <stddef.h>
#include <stdint.h>

#include "src/engine/reuse_histogram.h"

/* Where survival bends: it is linear, and distance a parabola, in between. */
struct locality_point {
	double rd;
	double survival; /* P(rd of an access > this one) */
	double distance;
};

/*
 * How phases change distances (phases.h): a line through these points maps the
 * distance in a stream of one phase to the distance with all its phases. Beyond
 * the last point it rises by 1. Neither distance ever falls.
 */
struct locality_bend {
	double uniform; /* distance in a stream of one phase */
	double distance;
	double error; /* standard error of the distance, as a part of it */
};

/* What a stream's histogram gives; the histogram must not change meanwhile. */
struct locality {
	const struct reuse_histogram *stream;
	double total;     /* weight */
	double footprint; /* in lines: the weight of uses that nothing reuses */
	size_t points;    /* at least 1 */
	struct locality_point point[2 * REUSE_BINS + 1];
	size_t bends; /* 0: one phase */
	struct locality_bend bend[REUSE_BINS];
};

/* Prepare @l. @stream may have no weight; then every ratio of it is 0. */
void locality_init(struct locality *l, const struct reuse_histogram *stream);

/* The share of the stream that has not come back after @rd. */
double locality_survival(const struct locality *l, double rd);

/* The expected stack distance in lines at @rd >= 0, as if in one phase. */
double locality_uniform_distance(const struct locality *l, double rd);

/* The least rd with that distance; INFINITY if there is none. */
double locality_uniform_reach(const struct locality *l, double lines);

#endif
