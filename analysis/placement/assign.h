/* SPDX-License-Identifier: MIT */
/*
 * assign - put threads that share lines on places that are near
 *
 * The cost of a placement is the sum over all pairs of threads of what they
 * share times the distance of their places. Finding the cheapest is the
 * quadratic assignment problem; here a greedy start is improved by exchanging
 * the places of two threads, and moving one to a free place, until nothing
 * helps; then the same from other starts. On small cases it finds the optimum
 * (tests/analysis/placement/test_assign.c).
 */
#ifndef COMDET_ANALYSIS_PLACEMENT_ASSIGN_H
#define COMDET_ANALYSIS_PLACEMENT_ASSIGN_H

#include <stddef.h>
#include <stdint.h>

struct assignment {
	size_t threads, places;
	const double *shared;     /* threads * threads, symmetric */
	const uint32_t *distance; /* places * places, symmetric; 0 at home */
};

/*
 * Find a place for each thread, in @place. With more threads than places, each
 * place takes equally many, or one more. Always the same result for the same
 * input.
 */
void assign_places(const struct assignment *a, uint32_t *place);

double assign_cost(const struct assignment *a, const uint32_t *place);

#endif
