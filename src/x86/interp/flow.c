/* SPDX-License-Identifier: MIT */
/*
 * flow - branches, calls, the stack, flags as data
 */
#include "flow.h"
#include "flags.h"
#include "load_store.h"
#include "operand.h"

#include "src/base/signal_safe.h"

static enum step go(struct interp *in, struct value target)
{
	if (target.taint)
		return need(in, target.taint, STEP_UNKNOWN_PATH);
	in->next_ip = target.v;
	return STEP_NEXT;
}

/* The target of an indirect branch is needed, so it is read in this pass. */
static struct value branch_target(struct interp *in, const struct insn *insn)
{
	const struct operand *op = &insn->op[0];

	if (op->kind == OPERAND_MEM)
		return load_now(in, insn, in->address[op->reg], op->bytes);
	return read_operand(in, insn, 0);
}

enum step step_jump(struct interp *in, const struct insn *insn)
{
	return go(in, branch_target(in, insn));
}

enum step step_jcc(struct interp *in, const struct insn *insn)
{
	struct value c = condition(in, insn->condition);

	if (c.taint)
		return need(in, c.taint, STEP_UNKNOWN_PATH);
	if (c.v)
		in->next_ip = insn->imm;
	return STEP_NEXT;
}

/* loop, loope, loopne, jrcxz, jecxz */
enum step step_loop(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->flags & INSN_ADDRESS32 ? 4 : 8;
	struct value n = get_gpr(in, GPR_RCX, bytes);
	bool taken;

	if (insn->mnemonic == ZYDIS_MNEMONIC_JRCXZ ||
	    insn->mnemonic == ZYDIS_MNEMONIC_JECXZ) {
		taken = !n.v;
	} else {
		n.v = (n.v - 1) & low_mask(bytes);
		taken = n.v;
		if (insn->mnemonic != ZYDIS_MNEMONIC_LOOP) {
			n.taint |= flags_taint(in, FLAG_ZF);
			taken &= !(in->cpu.rflags & FLAG_ZF) ==
				 (insn->mnemonic == ZYDIS_MNEMONIC_LOOPNE);
		}
	}
	if (n.taint)
		return need(in, n.taint, STEP_UNKNOWN_PATH);
	if (insn->gpr_written & 1u << GPR_RCX)
		set_gpr(in, GPR_RCX, bytes, n);
	if (taken)
		in->next_ip = insn->imm;
	return STEP_NEXT;
}

/* The memory operand of the implicit push or pop is the last one. */
static unsigned stack_operand(const struct insn *insn)
{
	return insn->mems - 1u;
}

static enum step push(struct interp *in, const struct insn *insn,
		      struct value v)
{
	unsigned i = stack_operand(insn), bytes = insn->mem[i].bytes;

	if (!store(in, in->address[i], bytes, v))
		return STEP_FULL;
	in->cpu.gpr[GPR_RSP] -= bytes;
	return STEP_NEXT;
}

enum step step_call(struct interp *in, const struct insn *insn)
{
	struct value target = branch_target(in, insn);
	struct value back = { insn->ip + insn->len, 0 };
	enum step s;

	s = go(in, target);
	if (s != STEP_NEXT)
		return s;
	return push(in, insn, back);
}

enum step step_ret(struct interp *in, const struct insn *insn)
{
	struct value target = load_now(in, insn, in->address[0], 8);
	enum step s;

	if (insn->mem[0].bytes != 8)
		return STEP_UNDECODED;
	s = go(in, target);
	if (s != STEP_NEXT)
		return s;
	in->cpu.gpr[GPR_RSP] += 8 + (uint16_t)insn->imm;
	return STEP_NEXT;
}

enum step step_push(struct interp *in, const struct insn *insn)
{
	return push(in, insn, read_operand(in, insn, 0));
}

enum step step_pop(struct interp *in, const struct insn *insn)
{
	unsigned i = stack_operand(insn), bytes = insn->mem[i].bytes;
	struct value v = load(in, insn, in->address[i], bytes);

	in->cpu.gpr[GPR_RSP] += bytes;
	return write_operand(in, insn, 0, v);
}

enum step step_pushf(struct interp *in, const struct insn *insn)
{
	/* RF and VM are pushed as zero. */
	struct value v = { in->cpu.rflags & 0xfcffff,
			   flags_taint(in, FLAGS_ALL | FLAG_DF) };

	return push(in, insn, v);
}

enum step step_popf(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->mem[0].bytes;
	struct value v = load(in, insn, in->address[0], bytes);
	uint64_t settable = FLAGS_ALL | FLAG_DF;

	/* TF would trap. NT, AC and ID are restored if the operand has them. */
	if (!v.taint && v.v & 0x100)
		return STEP_SYSTEM;
	settable |= 0x4000;
	if (bytes == 8)
		settable |= 0x240000;
	set_flags(in, FLAGS_ALL, 0, v.v, v.taint);
	in->cpu.rflags = (in->cpu.rflags & ~settable) | (v.v & settable);
	in->undefined &= ~FLAG_DF;
	in->direction_taint = v.taint;
	in->cpu.gpr[GPR_RSP] += bytes;
	return STEP_NEXT;
}

enum step step_enter(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->mem[0].bytes;
	struct value frame = get_gpr(in, GPR_RBP, bytes);
	uint64_t rsp = in->cpu.gpr[GPR_RSP] - bytes;

	if (bytes != 8)
		return STEP_UNDECODED;
	if (!store(in, in->address[0], bytes, frame))
		return STEP_FULL;
	set_gpr(in, GPR_RBP, 8, (struct value){ rsp, 0 });
	in->cpu.gpr[GPR_RSP] = rsp - (uint16_t)insn->imm;
	return STEP_NEXT;
}

enum step step_leave(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->mem[0].bytes;
	struct value v = load(in, insn, in->address[0], bytes);

	set_gpr(in, GPR_RSP, 8,
		(struct value){ in->cpu.gpr[GPR_RBP] + bytes, 0 });
	set_gpr(in, GPR_RBP, bytes, v);
	return STEP_NEXT;
}

enum step step_lahf(struct interp *in, const struct insn *insn)
{
	static const struct operand ah = { OPERAND_HIGH8, GPR_RAX, 1, 0 };
	uint32_t mask = FLAGS_ALL & ~FLAG_OF;

	write_gpr(in, &ah,
		  (struct value){ (in->cpu.rflags & mask) | 2,
				  flags_taint(in, mask) });
	return STEP_NEXT;
}

enum step step_sahf(struct interp *in, const struct insn *insn)
{
	static const struct operand ah = { OPERAND_HIGH8, GPR_RAX, 1, 0 };
	struct value v = read_gpr(in, &ah);

	set_flags(in, FLAGS_ALL & ~FLAG_OF, 0, v.v, v.taint);
	return STEP_NEXT;
}

/* clc stc cmc cld std */
enum step step_flag(struct interp *in, const struct insn *insn)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_CLC:
		set_flags(in, FLAG_CF, 0, 0, 0);
		break;
	case ZYDIS_MNEMONIC_STC:
		set_flags(in, FLAG_CF, 0, FLAG_CF, 0);
		break;
	case ZYDIS_MNEMONIC_CMC:
		in->cpu.rflags ^= FLAG_CF;
		break;
	default:
		in->cpu.rflags &= ~(uint64_t)FLAG_DF;
		if (insn->mnemonic == ZYDIS_MNEMONIC_STD)
			in->cpu.rflags |= FLAG_DF;
		in->undefined &= ~FLAG_DF;
		in->direction_taint = 0;
	}
	return STEP_NEXT;
}
