/* SPDX-License-Identifier: MIT */
/*
 * known_paths - to which levels the accesses of leaders go
 *
 * Micro-traces that execute the same, and whose accesses go to the same levels,
 * take the same time on a core without a prefetcher: they have one path.
 */
#ifndef COMDET_ANALYSIS_PREDICT_KNOWN_PATHS_H
#define COMDET_ANALYSIS_PREDICT_KNOWN_PATHS_H

#include "leaders.h"
#include "levels.h"

struct known_paths;

/* Both must outlive it. */
struct known_paths *known_paths_new(const struct workload *w,
				    const struct leaders *l);
void known_paths_free(struct known_paths *k); /* not NULL */

/*
 * The number of the path that the leader of number @leader takes through @l,
 * or NUMBER_NONE: there are too many.
 */
uint32_t known_paths_of(struct known_paths *k, uint32_t leader,
			const struct levels *l);

/* The levels on a path, by micro-operation, until known_paths_free. */
const uint8_t *known_paths_levels(const struct known_paths *k, uint32_t path);

/* Which these are, a bit for each. */
unsigned int known_paths_used(const struct known_paths *k, uint32_t path);

#endif
