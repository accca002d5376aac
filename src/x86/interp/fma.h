/* SPDX-License-Identifier: MIT */
/*
 * fma - fused multiply-add, carried out by the processor itself
 */
#ifndef COMDET_X86_INTERP_FMA_H
#define COMDET_X86_INTERP_FMA_H

#include "state.h"

step_fn step_fma;

bool is_fma(const struct insn *insn);

#endif
