/* SPDX-License-Identifier: MIT */
/*
 * bits - shifts, rotates, bit tests and counts, BMI
 */
#ifndef COMDET_X86_INTERP_BITS_H
#define COMDET_X86_INTERP_BITS_H

#include "state.h"

step_fn step_shift;
step_fn step_rotate;
step_fn step_rotate_carry;
step_fn step_shift_double;
step_fn step_bit_test;
step_fn step_bit_scan;
step_fn step_zero_count;
step_fn step_popcnt;
step_fn step_bmi_quiet;
step_fn step_bmi_three;
step_fn step_bmi_lowest;

#endif
