/* SPDX-License-Identifier: MIT */
/*
 * sighted - lines that were seen to go from thread to thread, and no sample met
 */
#ifndef COMDET_ANALYSIS_REPORT_SIGHTED_H
#define COMDET_ANALYSIS_REPORT_SIGHTED_H

#include <jansson.h>

#include "report.h"

/* Some sentences for the answer, NULL if there is no such line. Free it. */
char *report_sighted_answer(const struct report *r);

/* The table; nothing if there is no such line. */
void report_sighted(struct report *r);

/* An object; NULL if there is no such line. */
json_t *report_sighted_json(struct report *r);

#endif
