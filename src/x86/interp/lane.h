/* SPDX-License-Identifier: MIT */
/*
 * lane - vector arithmetic, carried out by the processor itself
 */
#ifndef COMDET_X86_INTERP_LANE_H
#define COMDET_X86_INTERP_LANE_H

#include "state.h"

step_fn step_lane;
step_fn step_lane_float;
step_fn step_scalar;
step_fn step_unary;
step_fn step_unary_float;
step_fn step_lane_shift;
step_fn step_lane_widen;
step_fn step_lane_narrow;
step_fn step_lane_shift_each;

#endif
