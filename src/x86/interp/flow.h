/* SPDX-License-Identifier: MIT */
/*
 * flow - branches, calls, the stack, flags as data
 */
#ifndef COMDET_X86_INTERP_FLOW_H
#define COMDET_X86_INTERP_FLOW_H

#include "state.h"

step_fn step_jump;
step_fn step_jcc;
step_fn step_loop;
step_fn step_call;
step_fn step_ret;
step_fn step_push;
step_fn step_pop;
step_fn step_pushf;
step_fn step_popf;
step_fn step_enter;
step_fn step_leave;
step_fn step_lahf;
step_fn step_sahf;
step_fn step_flag;

#endif
