/* SPDX-License-Identifier: MIT */
/*
 * json - the report for programs
 */
#ifndef COMDET_ANALYSIS_REPORT_JSON_H
#define COMDET_ANALYSIS_REPORT_JSON_H

#include "report.h"

/* Print one JSON object. Returns 0, or -1 if it could not be made or printed.
 */
int report_json(struct report *r);

#endif
