/* SPDX-License-Identifier: MIT */
/*
 * matrix - which threads share with which
 */
#ifndef COMDET_ANALYSIS_REPORT_MATRIX_H
#define COMDET_ANALYSIS_REPORT_MATRIX_H

#include "report.h"

void report_matrix(struct report *r);

#endif
