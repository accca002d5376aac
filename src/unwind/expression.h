/* SPDX-License-Identifier: MIT */
/*
 * expression - what a DWARF expression of .eh_frame computes
 *
 * The operations of DWARF 5, section 2.5, that make sense in frames: constants,
 * registers, memory, arithmetic, comparisons, jumps. An expression of unknown
 * operations, too many of them, or too many values ends with an error.
 *
 * Context: any, handler included. No allocation, no lock.
 */
#ifndef COMDET_UNWIND_EXPRESSION_H
#define COMDET_UNWIND_EXPRESSION_H

#include "reader.h"
#include "registers.h"

enum {
	EXPRESSION_STEPS_MAX = 200,
	EXPRESSION_VALUES_MAX = 16,
};

/*
 * Compute the expression of @code, read through @code's reader; memory is read
 * through @memory. If @first is not NULL, its value is pushed before. Returns
 * 0, or -EINVAL for one that is not understood, or that reads an unknown
 * register or unreadable memory.
 */
int expression_value(struct walk code, const struct unwind_registers *regs,
		     struct reader *memory, const uint64_t *first,
		     uint64_t *out);

#endif
