/* SPDX-License-Identifier: MIT */
/*
 * operand - general registers and operands with their taints
 */
#ifndef COMDET_X86_INTERP_OPERAND_H
#define COMDET_X86_INTERP_OPERAND_H

#include "state.h"

struct value read_gpr(const struct interp *in, const struct operand *op);
void write_gpr(struct interp *in, const struct operand *op, struct value v);
struct value read_operand(struct interp *in, const struct insn *insn, int i);
enum step write_operand(struct interp *in, const struct insn *insn, int i,
			struct value v);
void set_gpr(struct interp *in, unsigned reg, unsigned bytes, struct value v);
struct value get_gpr(const struct interp *in, unsigned reg, unsigned bytes);
/* Mark everything that @insn may write as unknown. */
enum step step_unknown(struct interp *in, const struct insn *insn);

#endif
