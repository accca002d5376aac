/* SPDX-License-Identifier: MIT */
/*
 * seldom - the lines that threads share too seldom for samples to meet
 */
#ifndef COMDET_ANALYSIS_REPORT_SELDOM_H
#define COMDET_ANALYSIS_REPORT_SELDOM_H

#include <jansson.h>

#include "report.h"

/* One sentence for the answer, NULL if there is no such line. Free it. */
char *report_seldom_answer(const struct report *r);

/* The table; nothing if there is no such line. */
void report_seldom(struct report *r);

/* An array; NULL if there is no such line. */
json_t *report_seldom_json(struct report *r);

#endif
