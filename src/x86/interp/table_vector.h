/* SPDX-License-Identifier: MIT */
/*
 * table_vector - the function that executes each vector instruction
 */
#ifndef COMDET_X86_INTERP_TABLE_VECTOR_H
#define COMDET_X86_INTERP_TABLE_VECTOR_H

#include "state.h"

/* As interp_handler, for instructions on vector and mask registers. */
step_fn *interp_vector_handler(const struct insn *insn);

#endif
