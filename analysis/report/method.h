/* SPDX-License-Identifier: MIT */
/*
 * method - how the profile was measured, and what was lost
 */
#ifndef COMDET_ANALYSIS_REPORT_METHOD_H
#define COMDET_ANALYSIS_REPORT_METHOD_H

#include "report.h"

void report_method(struct report *r);
void report_loss(struct report *r);

#endif
