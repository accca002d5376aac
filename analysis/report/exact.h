/* SPDX-License-Identifier: MIT */
/*
 * exact - transfers that were counted one by one
 */
#ifndef COMDET_ANALYSIS_REPORT_EXACT_H
#define COMDET_ANALYSIS_REPORT_EXACT_H

#include "report.h"

/* Print the counts; nothing if none were asked for. */
void report_exact(struct report *r);

/*
 * The counts of all threads in one sentence, to be freed; NULL if there are
 * none. *@transfers receives their number.
 */
char *report_exact_answer(const struct report *r, uint64_t *transfers);

/* The object "exact"; NULL if there are no counts. */
struct json_t *report_exact_json(struct report *r);

#endif
