/* SPDX-License-Identifier: MIT */
/*
 * band - how far a miss ratio may be off
 *
 * Context: analysis. Does not allocate. Needs libm.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_BAND_H
#define COMDET_ANALYSIS_LOCALITY_BAND_H

#include "survival.h"
#include "src/base/interval.h"

/*
 * The 95 % interval of locality_miss_stack() as an estimate of the ratio of an
 * exact LRU stack: for the errors of sampling and of the model.
 */
struct interval locality_band(const struct locality *l,
			      const struct reuse_histogram *part, double lines);

#endif
