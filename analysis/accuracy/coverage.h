/* SPDX-License-Identifier: MIT */
/*
 * coverage - how often intervals contain the truth
 */
#ifndef COMDET_ANALYSIS_ACCURACY_COVERAGE_H
#define COMDET_ANALYSIS_ACCURACY_COVERAGE_H

#include "accuracy.h"

/*
 * The suite intervals: how many cells have an interval that contains the truth.
 */
void accuracy_plan_intervals(struct accuracy *all);
void accuracy_judge_intervals(struct accuracy *all, size_t first);

#endif
