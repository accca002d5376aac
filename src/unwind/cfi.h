/* SPDX-License-Identifier: MIT */
/*
 * cfi - what .eh_frame says of the frame at an instruction
 *
 * .eh_frame_hdr has a table of functions, sorted by address; it leads to the
 * function's FDE, which is a program of call frame instructions (DWARF 5, 6.4;
 * LSB 5.0, 10.6). Running the program to an address gives a row: how to find
 * the frame's CFA, and each register that the caller had. Nothing in these
 * bytes is trusted: a program has a limited number of steps, and every read may
 * fail.
 *
 * Context: any, handler included. No allocation, no lock, 2 KiB of stack.
 */
#ifndef COMDET_UNWIND_CFI_H
#define COMDET_UNWIND_CFI_H

#include "module.h"
#include "reader.h"
#include "registers.h"

enum {
	CFI_STEPS_MAX = 20000, /* functions with that many rows are rare */
	CFI_REMEMBERED_MAX = 8,
};

enum cfi_rule {
	RULE_SAME,
	RULE_UNDEFINED,
	RULE_OFFSET,         /* saved at CFA + value */
	RULE_VAL_OFFSET,     /* is CFA + value */
	RULE_REGISTER,       /* is in register @value */
	RULE_EXPRESSION,     /* saved where the expression says */
	RULE_VAL_EXPRESSION, /* is what the expression says */
};

struct cfi_where {
	uint8_t rule; /* enum cfi_rule */
	uint8_t base; /* the register of a CFA with RULE_VAL_OFFSET */
	/* An expression is so many bytes behind the FDE: length, then code. */
	int32_t value;
};

struct cfi_row {
	struct cfi_where cfa; /* RULE_VAL_OFFSET or RULE_VAL_EXPRESSION */
	struct cfi_where reg[UNWIND_REGISTERS]; /* FRAME_PC: of the caller */
	bool signal;    /* the frame of a signal: its caller was interrupted */
	uint64_t fde;   /* address, for expressions */
	uint64_t start; /* of the function */
};

/*
 * The row for the instruction at @pc of @module, read through @reader. Returns
 * 0; -ENOENT if the module does not describe that code; -EINVAL for a
 * description that is damaged or not understood.
 */
int cfi_find(struct reader *reader, const struct unwind_module *module,
	     uint64_t pc, struct cfi_row *row);

/* The addresses of the function of the FDE at @fde. Returns 0 or -EINVAL. */
int cfi_function(struct reader *reader, uint64_t fde, uint64_t *start,
		 uint64_t *end);

/* The code of @where's expression, to be read through @reader. */
struct walk cfi_expression(struct reader *reader, const struct cfi_row *row,
			   const struct cfi_where *where);

#endif
