/* SPDX-License-Identifier: MIT */
/*
 * diff_json - what changed, for programs (docs/report-json.md)
 */
#ifndef COMDET_ANALYSIS_DIFF_DIFF_JSON_H
#define COMDET_ANALYSIS_DIFF_DIFF_JSON_H

#include "diff.h"

/* Print one JSON object on stdout. Returns 0, or -1 if that failed. */
int diff_json(const struct diff *d);

#endif
