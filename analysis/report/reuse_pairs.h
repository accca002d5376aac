/* SPDX-License-Identifier: MIT */
/*
 * reuse_pairs - pairs of use and reuse, by source line, for people
 */
#ifndef COMDET_ANALYSIS_REPORT_REUSE_PAIRS_H
#define COMDET_ANALYSIS_REPORT_REUSE_PAIRS_H

#include "reuse.h"

#define REUSE_MISS_SHARE_MIN 0.0005 /* least share of the misses for a row */

/*
 * Print the pairs of @s, whose uses weigh @total, ranked by misses in cache @by
 * or, if that is -1, by weight.
 */
void reuse_pairs_print(struct report *out, const struct report_reuse *r,
		       const struct reuse_stream *s, double total, int by);

#endif
