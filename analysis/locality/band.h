/* SPDX-License-Identifier: MIT */
/*
 * band - the sampling error of a miss ratio
 *
 * Context: analysis. Does not allocate. Needs libm.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_BAND_H
#define COMDET_ANALYSIS_LOCALITY_BAND_H

#include "survival.h"
#include "src/base/interval.h"

/* The 95 % interval of locality_miss_stack(), for the error of sampling. */
struct interval locality_band(const struct locality *l,
			      const struct reuse_histogram *part, double lines);

#endif
