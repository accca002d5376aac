/* SPDX-License-Identifier: MIT */
/*
 * mask - AVX-512 mask registers and comparisons into them
 */
#ifndef COMDET_X86_INTERP_MASK_H
#define COMDET_X86_INTERP_MASK_H

#include "state.h"

step_fn step_kmov;
step_fn step_klogic;
step_fn step_kshift;
step_fn step_kunpck;
step_fn step_kortest;
step_fn step_ktest;
step_fn step_mask_compare;
step_fn step_vec_to_mask;
step_fn step_mask_to_vec;

/* Write @bits to mask operand 0, under the write mask. */
enum step mask_result(struct interp *in, const struct insn *insn, uint64_t bits,
		      uint64_t taint);

#endif
