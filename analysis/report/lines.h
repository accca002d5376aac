/* SPDX-License-Identifier: MIT */
/*
 * lines - the cache lines and the instructions that share
 */
#ifndef COMDET_ANALYSIS_REPORT_LINES_H
#define COMDET_ANALYSIS_REPORT_LINES_H

#include "report.h"

void report_lines(struct report *r);
void report_sites(struct report *r);

#endif
