/* SPDX-License-Identifier: MIT */
/*
 * table - which function carries out which instruction
 */
#ifndef COMDET_X86_INTERP_TABLE_H
#define COMDET_X86_INTERP_TABLE_H

#include "state.h"

/* What carries out @insn; step_unknown if its result is not modelled. */
step_fn *interp_handler(const struct insn *insn);

#endif
