/* SPDX-License-Identifier: MIT */
/*
 * convert - scalar floating point to and from general registers,
 * comparisons, rounding
 */
#ifndef COMDET_X86_INTERP_CONVERT_H
#define COMDET_X86_INTERP_CONVERT_H

#include "state.h"

step_fn step_from_integer;
step_fn step_to_integer;
step_fn step_float_compare;
step_fn step_float_predicate;
step_fn step_round;
step_fn step_x87;
step_fn step_restore;

#endif
