/* SPDX-License-Identifier: MIT */
/*
 * table_vector - which function carries out which vector instruction
 */
#ifndef COMDET_X86_INTERP_TABLE_VECTOR_H
#define COMDET_X86_INTERP_TABLE_VECTOR_H

#include "state.h"

/* interp_handler for instructions on vector and mask registers. */
step_fn *interp_vector_handler(const struct insn *insn);

#endif
