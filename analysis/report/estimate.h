/* SPDX-License-Identifier: MIT */
/*
 * estimate - the transfers that the estimators found
 */
#ifndef COMDET_ANALYSIS_REPORT_ESTIMATE_H
#define COMDET_ANALYSIS_REPORT_ESTIMATE_H

#include "report.h"

/* Print the estimates; nothing if there are none. */
void report_estimate(struct report *r);

/*
 * The sentence that the answer begins with, to be freed; NULL if there are no
 * estimates. *@weak: they rest on few samples.
 */
char *report_estimate_answer(const struct report *r, bool *weak);

/*
 * The estimates by rows of threads, of @r->thread alone if that is asked for,
 * ordered as tally.cell is; to be freed. NULL if there are none, or if rows
 * were merged.
 */
struct cell *report_estimate_cells(const struct report *r, size_t *n);

/* What replaces detections in "communication"; NULL if there are none. */
struct json_t *report_estimate_json(const struct profile *p);

/* True if an estimator measured @h, rather than the map of detections. */
bool report_is_estimate(const struct cdp_header *h);

#endif
