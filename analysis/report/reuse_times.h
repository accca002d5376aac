/* SPDX-License-Identifier: MIT */
/*
 * reuse_times - the distribution of reuse times
 */
#ifndef COMDET_ANALYSIS_REPORT_REUSE_TIMES_H
#define COMDET_ANALYSIS_REPORT_REUSE_TIMES_H

#include "report.h"
#include "src/base/interval.h"
#include "src/engine/reuse_histogram.h"

/* Print it. Times below @resolution, in ns, share a row. */
void reuse_times_print(struct report *out, const struct reuse_histogram *h,
		       bool ns, uint64_t resolution);

/*
 * The 95 % interval of the share of @part in @total. Unless uses are in ns, a
 * use of weight 1 was counted, not sampled.
 */
struct interval reuse_share(const struct reuse_mass *part,
			    const struct reuse_mass *total, bool ns);

/* The time that half of the reuses do not exceed; 0 if there are none. */
double reuse_median(const struct reuse_histogram *h);

#endif
