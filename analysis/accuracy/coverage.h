/* SPDX-License-Identifier: MIT */
/*
 * coverage - how often intervals hold the truth
 */
#ifndef COMDET_ANALYSIS_ACCURACY_COVERAGE_H
#define COMDET_ANALYSIS_ACCURACY_COVERAGE_H

#include "accuracy.h"

/* The suite intervals: of the cells of its trials, how many hold the truth. */
void accuracy_plan_intervals(struct accuracy *all);
void accuracy_judge_intervals(struct accuracy *all, size_t first);

#endif
