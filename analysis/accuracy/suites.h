/* SPDX-License-Identifier: MIT */
/*
 * suites - the suites of accuracy
 */
#ifndef COMDET_ANALYSIS_ACCURACY_SUITES_H
#define COMDET_ANALYSIS_ACCURACY_SUITES_H

#include "accuracy.h"

extern const struct accuracy_suite *const accuracy_suites[];
extern const size_t accuracy_suite_count;

#endif
