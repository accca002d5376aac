/* SPDX-License-Identifier: MIT */
/*
 * locality - stack distances and miss ratios of a stream, phases included
 *
 * The distance never falls as the reuse time grows. So for each cache size
 * there is one reuse distance from which on accesses miss, and a miss ratio is
 * a sum over the bins above it.
 *
 * A ratio is computed for a part of the stream (a site, a thread, loads alone)
 * or for the whole: the stream decides how many lines lie between use and
 * reuse, the part decides which reuses are counted. Cold, dangling and
 * invalidated uses miss in every cache; after that store an invalidated line
 * takes no room.
 *
 * Context: analysis. Does not allocate. Needs libm.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_LOCALITY_H
#define COMDET_ANALYSIS_LOCALITY_LOCALITY_H

#include "survival.h"

/* The expected stack distance in lines at reuse distance @rd >= 0. */
double locality_distance(const struct locality *l, double rd);

/* The least rd at which the distance is @lines; INFINITY if there is none. */
double locality_reach(const struct locality *l, double lines);

/*
 * The share of the accesses in @part that miss in a fully associative LRU cache
 * of @lines lines; 0 if @part has no weight.
 *
 * stack: StatStack; a reuse misses if its distance, rounded, is @lines or more.
 * aet:   the mean time that a line stays without reuse decides (Hu et al.,
 *        USENIX ATC 2016); differs from StatStack by rounding.
 */
double locality_miss_stack(const struct locality *l,
			   const struct reuse_histogram *part, double lines);
double locality_miss_aet(const struct locality *l,
			 const struct reuse_histogram *part, double lines);

#endif
