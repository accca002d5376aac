/* SPDX-License-Identifier: MIT */
/*
 * sweeps - the suites that vary one parameter of a microbenchmark
 */
#ifndef COMDET_ANALYSIS_ACCURACY_SWEEPS_H
#define COMDET_ANALYSIS_ACCURACY_SWEEPS_H

#include "accuracy.h"

extern const struct accuracy_suite accuracy_false_sharing;
extern const struct accuracy_suite accuracy_read_write;
extern const struct accuracy_suite accuracy_point_to_point;
extern const struct accuracy_suite accuracy_operations;
extern const struct accuracy_suite accuracy_placement;
extern const struct accuracy_suite accuracy_periods;
extern const struct accuracy_suite accuracy_board_sizes;
extern const struct accuracy_suite accuracy_register_counts;
extern const struct accuracy_suite accuracy_slices;

#endif
