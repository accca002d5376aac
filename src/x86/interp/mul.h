/* SPDX-License-Identifier: MIT */
/*
 * mul - multiplication, division, CRC32
 */
#ifndef COMDET_X86_INTERP_MUL_H
#define COMDET_X86_INTERP_MUL_H

#include "state.h"

step_fn step_mul;
step_fn step_imul;
step_fn step_mulx;
step_fn step_div;
step_fn step_crc32;

#endif
