/* SPDX-License-Identifier: MIT */
/*
 * regions - samples and detections by the regions that the program names
 */
#ifndef COMDET_ANALYSIS_REPORT_REGIONS_H
#define COMDET_ANALYSIS_REPORT_REGIONS_H

#include <jansson.h>

#include "report.h"

/*
 * The table of the text, and the member "regions" of @o: regions of the same
 * name are a row, over all processes; the last row is what happened in no
 * region. Nothing if the profile has no regions, or is asked for one thread:
 * regions are counted over all threads.
 */
void report_regions(struct report *r);
void report_regions_json(const struct report *r, json_t *o);

#endif
