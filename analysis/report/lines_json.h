/* SPDX-License-Identifier: MIT */
/*
 * lines_json - the cache lines of the report for programs
 */
#ifndef COMDET_ANALYSIS_REPORT_LINES_JSON_H
#define COMDET_ANALYSIS_REPORT_LINES_JSON_H

#include <jansson.h>

#include "report.h"

/* All lines, those with most detections first. */
json_t *report_lines_json(struct report *r);

/* Put numbers of true and of false sharing into @o. */
void put_kinds(json_t *o, const uint64_t *kind);

/* Put what padding avoids into @o, where detections could be judged. */
void put_judged(json_t *o, const struct judged *j);

/* Put into @o which call allocated @object, if it is a heap block. */
void put_allocated(json_t *o, const struct object *object);

#endif
