/* SPDX-License-Identifier: MIT */
/*
 * operand - general registers and operands with their taints
 */
#include "operand.h"
#include "load_store.h"

#include "src/base/signal_safe.h"

struct value get_gpr(const struct interp *in, unsigned reg, unsigned bytes)
{
	return (struct value){ in->cpu.gpr[reg] & low_mask(bytes),
			       in->gpr_taint[reg] };
}

void set_gpr(struct interp *in, unsigned reg, unsigned bytes, struct value v)
{
	if (bytes >= 4) {
		in->cpu.gpr[reg] = v.v & low_mask(bytes);
		in->gpr_taint[reg] = v.taint;
		return;
	}
	in->cpu.gpr[reg] =
		(in->cpu.gpr[reg] & ~low_mask(bytes)) | (v.v & low_mask(bytes));
	in->gpr_taint[reg] |= v.taint;
}

struct value read_gpr(const struct interp *in, const struct operand *op)
{
	struct value v = { in->cpu.gpr[op->reg], in->gpr_taint[op->reg] };

	if (op->kind == OPERAND_HIGH8)
		v.v >>= 8;
	v.v &= low_mask(op->bytes);
	return v;
}

void write_gpr(struct interp *in, const struct operand *op, struct value v)
{
	if (op->kind != OPERAND_HIGH8) {
		set_gpr(in, op->reg, op->bytes, v);
		return;
	}
	in->cpu.gpr[op->reg] =
		(in->cpu.gpr[op->reg] & ~0xff00ull) | (v.v & 0xff) << 8;
	in->gpr_taint[op->reg] |= v.taint;
}

struct value read_operand(struct interp *in, const struct insn *insn, int i)
{
	const struct operand *op = &insn->op[i];

	switch (op->kind) {
	case OPERAND_GPR:
	case OPERAND_HIGH8:
		return read_gpr(in, op);
	case OPERAND_IMM:
		return (struct value){ insn->imm, 0 };
	case OPERAND_MEM:
		if (op->bytes >= 1 && op->bytes <= 8)
			return load(in, insn, in->address[op->reg], op->bytes);
		/* fallthrough */
	default:
		return (struct value){ 0, TAINT_UNKNOWN };
	}
}

enum step write_operand(struct interp *in, const struct insn *insn, int i,
			struct value v)
{
	const struct operand *op = &insn->op[i];

	switch (op->kind) {
	case OPERAND_GPR:
	case OPERAND_HIGH8:
		write_gpr(in, op, v);
		return STEP_NEXT;
	case OPERAND_MEM:
		if (op->bytes < 1 || op->bytes > 8)
			return step_unknown(in, insn);
		return store(in, in->address[op->reg], op->bytes, v)
			       ? STEP_NEXT
			       : STEP_FULL;
	default:
		return STEP_NEXT;
	}
}

enum step step_unknown(struct interp *in, const struct insn *insn)
{
	for (int i = 0; i < 16; i++)
		if (insn->gpr_written >> i & 1)
			in->gpr_taint[i] = TAINT_UNKNOWN;
	for (uint32_t left = insn->vec_written; left; left &= left - 1) {
		unsigned reg = __builtin_ctz(left);

		in->vec_loaded |= 1u << reg;
		for (int i = 0; i < LANES; i++)
			in->vec_taint[reg][i] = TAINT_UNKNOWN;
	}
	for (int i = 0; i < MASKS; i++)
		if (insn->mask_written >> i & 1) {
			in->mask_loaded |= 1u << i;
			in->mask_taint[i] = TAINT_UNKNOWN;
		}
	in->undefined |= insn->eflags_written & (FLAGS_ALL | FLAG_DF);
	for (uint32_t i = in->count; i < in->pending; i++) {
		const struct access *a = &in->access[i];

		if (a->flags & ACCESS_STORE &&
		    !store_bytes(in, a->addr, NULL, a->len, TAINT_UNKNOWN))
			return STEP_FULL;
	}
	return STEP_NEXT;
}
