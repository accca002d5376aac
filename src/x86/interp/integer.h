/* SPDX-License-Identifier: MIT */
/*
 * integer - moves, additions and logic on general registers
 */
#ifndef COMDET_X86_INTERP_INTEGER_H
#define COMDET_X86_INTERP_INTEGER_H

#include "state.h"

step_fn step_nop;
step_fn step_mov;
step_fn step_movsx;
step_fn step_lea;
step_fn step_movbe;
step_fn step_bswap;
step_fn step_add;
step_fn step_sub;
step_fn step_logic;
step_fn step_incdec;
step_fn step_neg;
step_fn step_not;
step_fn step_xchg;
step_fn step_cmpxchg;
step_fn step_cmpxchg_pair;
step_fn step_cmov;
step_fn step_setcc;
step_fn step_widen;
step_fn step_spread;
step_fn step_xlat;
step_fn step_adx;
step_fn step_rdbase;

#endif
