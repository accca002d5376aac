/* SPDX-License-Identifier: MIT */
/*
 * over_time - when during the run which threads shared, as strips
 */
#ifndef COMDET_ANALYSIS_REPORT_OVER_TIME_H
#define COMDET_ANALYSIS_REPORT_OVER_TIME_H

#include <jansson.h>

#include "report.h"

/*
 * Strips, of all pairs and of the busiest, if sharing is spread unevenly over
 * the run or @r->strips asks for them; else one line that says so, or nothing
 * where there are too few detections to tell.
 */
void report_over_time(struct report *r);

/* The same as an object; NULL: the files tell nothing. */
json_t *report_over_time_json(const struct report *r);

#endif
