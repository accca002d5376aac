/* SPDX-License-Identifier: MIT */
/*
 * operand - general registers, flags and operands with their taints
 *
 * The carry flag has a taint of its own, since inc, bt and the rotates treat
 * it apart; the other status flags share one. A flag that an instruction
 * leaves undefined is unknown until the next that defines it.
 */
#include "state.h"

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

void set_flags(struct interp *in, uint32_t mask, uint32_t undefined,
	       uint64_t flags, uint64_t taint)
{
	in->cpu.rflags = (in->cpu.rflags & ~(uint64_t)mask) | (flags & mask);
	in->undefined = (in->undefined & ~mask) | undefined;
	if ((mask | undefined) & FLAG_CF)
		in->carry_taint = taint;
	if (((mask | undefined) & FLAGS_STATUS) == FLAGS_STATUS)
		in->status_taint = taint;
	else if ((mask | undefined) & FLAGS_STATUS)
		in->status_taint |= taint;
}

uint64_t flags_taint(const struct interp *in, uint32_t mask)
{
	uint64_t taint = 0;

	if (mask & in->undefined)
		taint = TAINT_UNKNOWN;
	if (mask & FLAG_CF)
		taint |= in->carry_taint;
	if (mask & FLAGS_STATUS)
		taint |= in->status_taint;
	if (mask & FLAG_DF)
		taint |= in->direction_taint;
	return taint;
}

struct value condition(const struct interp *in, unsigned code)
{
	static const uint16_t uses[8] = {
		FLAG_OF, FLAG_CF, FLAG_ZF,           FLAG_CF | FLAG_ZF,
		FLAG_SF, FLAG_PF, FLAG_SF | FLAG_OF, FLAG_SF | FLAG_OF | FLAG_ZF
	};
	uint64_t flags = in->cpu.rflags;
	bool sign_differs = !(flags & FLAG_SF) != !(flags & FLAG_OF);
	bool holds;

	switch (code >> 1) {
	case 6:
		holds = sign_differs;
		break;
	case 7:
		holds = sign_differs || flags & FLAG_ZF;
		break;
	default:
		holds = flags & uses[code >> 1];
	}
	return (struct value){ holds ^ (code & 1),
			       flags_taint(in, uses[code >> 1]) };
}

uint32_t result_flags(uint64_t r, unsigned bytes)
{
	uint32_t flags = 0;

	if (!(r & low_mask(bytes)))
		flags |= FLAG_ZF;
	if (r & sign_bit(bytes))
		flags |= FLAG_SF;
	if (!__builtin_parity(r & 0xff))
		flags |= FLAG_PF;
	return flags;
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
