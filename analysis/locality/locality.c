/* SPDX-License-Identifier: MIT */
/*
 * locality - stack distances and miss ratios of a stream, phases included
 */
#include <math.h>

#include "locality.h"
#include "phases.h"
#include "span.h"

double locality_distance(const struct locality *l, double rd)
{
	return locality_bent(l, locality_uniform_distance(l, rd));
}

double locality_reach(const struct locality *l, double lines)
{
	return locality_uniform_reach(l, locality_unbent(l, lines));
}

double locality_miss_stack(const struct locality *l,
			   const struct reuse_histogram *part, double lines)
{
	return locality_miss_from(part, locality_reach(l, lines - 0.5));
}

/*
 * A line that is not touched is evicted after A accesses, A the least number
 * for which the sum of P(T > t) over t < A is the cache's size. That sum is one
 * more than distance(A - 1). Times are whole numbers: above A means A + 1 or
 * more, and adding one half avoids rounding errors.
 */
double locality_miss_aet(const struct locality *l,
			 const struct reuse_histogram *part, double lines)
{
	double rd = locality_reach(l, lines - 1);

	if (lines < 1)
		return locality_miss_from(part, 0);
	return locality_miss_from(part, ceil(rd * (1 - 1e-12) - 1e-6) + 0.5);
}
