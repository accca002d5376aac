/* SPDX-License-Identifier: MIT */
/*
 * random - StatCache: caches that evict lines at random
 *
 * Context: analysis. Does not allocate. Needs libm.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_RANDOM_H
#define COMDET_ANALYSIS_LOCALITY_RANDOM_H

#include "survival.h"

/*
 * As locality_miss_stack(), in a cache that evicts a random line (StatCache:
 * Berg and Hagersten, ISPASS 2004): the miss ratio R at which as many lines are
 * evicted as are fetched, if a line survives rd accesses with probability
 * (1 - 1/lines)^(rd R).
 */
double locality_miss_random(const struct locality *l,
			    const struct reuse_histogram *part, double lines);

#endif
