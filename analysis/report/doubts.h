/* SPDX-License-Identifier: MIT */
/*
 * doubts - where estimates of transfers may fail, as far as the recording tells
 */
#ifndef COMDET_ANALYSIS_REPORT_DOUBTS_H
#define COMDET_ANALYSIS_REPORT_DOUBTS_H

#include <jansson.h>

#include "report.h"
#include "analysis/profile/estimate.h"

/* An array of names and texts; empty if nothing is in doubt. */
json_t *report_doubts_json(const struct estimate *e);

/* Print the texts, if there are estimates that are in doubt. */
void report_doubts(struct report *r);

#endif
