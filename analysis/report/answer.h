/* SPDX-License-Identifier: MIT */
/*
 * answer - the first paragraph of the report: what was found
 */
#ifndef COMDET_ANALYSIS_REPORT_ANSWER_H
#define COMDET_ANALYSIS_REPORT_ANSWER_H

#include "report.h"

void report_answer(struct report *r);

#endif
