/* SPDX-License-Identifier: MIT */
/*
 * doubts - where shares and estimates of transfers may fail, as far as the
 * recording tells
 */
#ifndef COMDET_ANALYSIS_REPORT_DOUBTS_H
#define COMDET_ANALYSIS_REPORT_DOUBTS_H

#include <jansson.h>

#include "report.h"
#include "analysis/profile/estimate.h"

/* An array of names and texts; empty if nothing is in doubt. */
json_t *report_doubts_json(const struct estimate *e);

/* The same of a map, without estimates. */
json_t *report_map_doubts_json(const struct profile *p);

/* Print the texts, if estimates or the shares of a map are in doubt. */
void report_doubts(struct report *r);

#endif
