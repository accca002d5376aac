/* SPDX-License-Identifier: MIT */
/*
 * table - the function that executes each instruction
 */
#ifndef COMDET_X86_INTERP_TABLE_H
#define COMDET_X86_INTERP_TABLE_H

#include "state.h"

/* The function that executes @insn; step_unknown if it is not modelled. */
step_fn *interp_handler(const struct insn *insn);

#endif
