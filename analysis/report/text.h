/* SPDX-License-Identifier: MIT */
/*
 * text - the report for people
 */
#ifndef COMDET_ANALYSIS_REPORT_TEXT_H
#define COMDET_ANALYSIS_REPORT_TEXT_H

#include "report.h"

void report_text(struct report *r);

#endif
