/* SPDX-License-Identifier: MIT */
/*
 * sampled_memory - how far back sampled uses were reused, for a profile
 *
 * A recording with -m reuse, of any source that counts accesses, says how many
 * accesses of each thread reuse their line after how long. What the windows of
 * a profile count of loads and stores is replaced by that, but for uses after
 * another thread's store. The micro-traces say how the accesses of a reuse time
 * spread over windows, and how deep they are (post-stratification: Holt and
 * Smith, JRSS A 142, 1979). Octaves of times that no micro-trace has are spread
 * evenly, and their depths follow from expected stack distances (StatStack,
 * analysis/locality/survival.h).
 */
#ifndef COMDET_ANALYSIS_PREDICT_SAMPLED_MEMORY_H
#define COMDET_ANALYSIS_PREDICT_SAMPLED_MEMORY_H

#include "workload.h"
#include "analysis/profile/profile.h"

/*
 * Take what @p, a recording of the same program, says. Returns 0, or -EINVAL
 * with a line for the user in @error; then @w may have changed.
 */
int sampled_memory_take(struct workload *w, const struct profile *p,
			char error[WORKLOAD_ERROR_BYTES]);

/* The same of the recording at @path, for a verb: dies if it cannot. */
void sampled_memory_open(struct workload *w, const char *path,
			 const char *verb);

#endif
