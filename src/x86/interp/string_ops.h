/* SPDX-License-Identifier: MIT */
/*
 * string_ops - string instructions
 */
#ifndef COMDET_X86_INTERP_STRING_OPS_H
#define COMDET_X86_INTERP_STRING_OPS_H

#include "state.h"

step_fn step_string_move;
step_fn step_string_compare;

#endif
