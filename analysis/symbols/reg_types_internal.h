/* SPDX-License-Identifier: MIT */
/*
 * reg_types_internal - what the files of reg_types share
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_REG_TYPES_INTERNAL_H
#define COMDET_ANALYSIS_SYMBOLS_REG_TYPES_INTERNAL_H

#include "reg_types.h"
#include "src/x86/decode/cpu_state.h"
#include "src/x86/decode/decode.h"

enum {
	GPRS = 16
};

/* A register that points @at bytes behind the start of a type's object. */
struct reg_value {
	const struct data_type *type; /* NULL: not known */
	int64_t at;
};

struct regs {
	struct reg_value r[GPRS]; /* in the order of instruction encoding */
};

/* From @start to @end, DWARF says what @reg points to. */
struct seed {
	uint64_t start, end;
	uint8_t reg;
	struct reg_value value;
};

/*
 * What DWARF says of the pointers in @function between @start and @end, ordered
 * by start; malloc'ed, *@n of them.
 */
struct seed *reg_types_seeds(struct dwarf_types *t, Dwarf_Die *function,
			     uint64_t start, uint64_t end, size_t *n);

/* Change @regs as @insn does. */
void reg_types_step(const struct reg_types_file *file, const struct insn *insn,
		    struct regs *regs);

/* What @mem is the address of. False if that is not known. */
bool reg_types_place(const struct reg_types_file *file,
		     const struct mem_operand *mem, const struct regs *regs,
		     struct typed_place *out);

#endif
