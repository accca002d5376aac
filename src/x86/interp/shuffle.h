/* SPDX-License-Identifier: MIT */
/*
 * shuffle - instructions that rearrange elements within a lane
 */
#ifndef COMDET_X86_INTERP_SHUFFLE_H
#define COMDET_X86_INTERP_SHUFFLE_H

#include "state.h"

step_fn step_shuffle_one;
step_fn step_shuffle_two;
step_fn step_shift_bytes;
step_fn step_blend_variable;
step_fn step_ternary;

#endif
