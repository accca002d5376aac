/* SPDX-License-Identifier: MIT */
/*
 * move - moves of whole vectors and of parts, masked moves
 */
#ifndef COMDET_X86_INTERP_MOVE_H
#define COMDET_X86_INTERP_MOVE_H

#include "state.h"

step_fn step_vec_move;
step_fn step_vec_low;
step_fn step_vec_scalar_move;
step_fn step_vec_half;
step_fn step_vec_extract;
step_fn step_vec_insert;
step_fn step_vec_signs;
step_fn step_vec_test;
step_fn step_vec_zero;
step_fn step_vec_masked;
step_fn step_vec_maskmov_bytes;
step_fn step_ldmxcsr;

#endif
