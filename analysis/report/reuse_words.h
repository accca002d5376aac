/* SPDX-License-Identifier: MIT */
/*
 * reuse_words - scopes, kinds, times and ratios of reuse in words
 *
 * Returned texts are valid as long as safe_text's.
 */
#ifndef COMDET_ANALYSIS_REPORT_REUSE_WORDS_H
#define COMDET_ANALYSIS_REPORT_REUSE_WORDS_H

#include "analysis/locality/reuse_sites.h"
#include "src/base/interval.h"

/* "within each thread" and so on, or of @thread unless it is -1. */
const char *reuse_scope_text(enum reuse_scope scope, int64_t thread);

/* "RAR" and so on: first the letter of the reuse, last that of the use. */
const char *reuse_pairing_name(enum reuse_pairing pairing);

/*
 * The bits of a list such as "RAW,WAW", in upper or lower case; 0 if it is not
 * such a list.
 */
unsigned reuse_pairings_parse(const char *list);

/* " (RAW, WAW)" if @f lets only these through, else "". */
const char *reuse_kinds_text(const struct reuse_filter *f);

/* "29 us" if @ns, else a number of accesses. */
const char *reuse_time_text(double time, bool ns);

/* Digits after the point of a ratio in percent: two below 1 %. */
int reuse_ratio_digits(double ratio);

/* "4.5 %", and the interval if it is not empty. */
const char *reuse_ratio_text(double ratio, struct interval by);

#endif
