/* SPDX-License-Identifier: MIT */
/*
 * string_ops - string instructions
 *
 * A repeated string instruction is executed one repetition at a time, as by a
 * single step. Each counts as an instruction with the accesses of one element,
 * so every element is as likely to be chosen as any other access.
 */
#include "string_ops.h"
#include "flags.h"
#include "load_store.h"
#include "operand.h"

#include "src/base/signal_safe.h"

static void advance(struct interp *in, const struct insn *insn, unsigned reg,
		    unsigned bytes)
{
	unsigned width = insn->flags & INSN_ADDRESS32 ? 4 : 8;
	uint64_t by = in->cpu.rflags & FLAG_DF ? -(uint64_t)bytes : bytes;
	struct value v = get_gpr(in, reg, width);

	v.v += by;
	set_gpr(in, reg, width, v);
}

/* False if the count is zero: then nothing happens. */
static bool repetition_begins(const struct interp *in, const struct insn *insn)
{
	unsigned width = insn->flags & INSN_ADDRESS32 ? 4 : 8;

	return !(insn->flags & (INSN_REP | INSN_REPNE)) ||
	       (in->cpu.gpr[GPR_RCX] & low_mask(width));
}

/* After an element: stay on the instruction if there is more to do. */
static void count_down(struct interp *in, const struct insn *insn, bool stop)
{
	unsigned width = insn->flags & INSN_ADDRESS32 ? 4 : 8;
	struct value n = get_gpr(in, GPR_RCX, width);

	if (!(insn->flags & (INSN_REP | INSN_REPNE)))
		return;
	n.v = (n.v - 1) & low_mask(width);
	set_gpr(in, GPR_RCX, width, n);
	if (n.v && !stop)
		in->next_ip = insn->ip;
}

static enum step direction_known(struct interp *in)
{
	uint64_t taint = flags_taint(in, FLAG_DF);

	return taint ? need(in, taint, STEP_UNKNOWN_ADDRESS) : STEP_NEXT;
}

/* movs, stos, lods */
enum step step_string_move(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->mem[0].bytes;
	enum step s = direction_known(in);
	bool ok = true;

	if (s != STEP_NEXT || !repetition_begins(in, insn))
		return s;
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_STOSB:
	case ZYDIS_MNEMONIC_STOSW:
	case ZYDIS_MNEMONIC_STOSD:
	case ZYDIS_MNEMONIC_STOSQ:
		ok = store(in, in->address[0], bytes,
			   get_gpr(in, GPR_RAX, bytes));
		break;
	case ZYDIS_MNEMONIC_LODSB:
	case ZYDIS_MNEMONIC_LODSW:
	case ZYDIS_MNEMONIC_LODSD:
	case ZYDIS_MNEMONIC_LODSQ:
		set_gpr(in, GPR_RAX, bytes,
			load(in, insn, in->address[0], bytes));
		break;
	default:
		ok = store(in, in->address[0], bytes,
			   load(in, insn, in->address[1], bytes));
	}
	if (!ok)
		return STEP_FULL;
	for (int i = 0; i < insn->mems; i++)
		advance(in, insn, insn->mem[i].base, bytes);
	count_down(in, insn, false);
	return STEP_NEXT;
}

/* cmps, scas: a repeated one branches on the result of the comparison */
enum step step_string_compare(struct interp *in, const struct insn *insn)
{
	bool repeated = insn->flags & (INSN_REP | INSN_REPNE);
	unsigned bytes = insn->mem[0].bytes;
	struct value a, b;
	enum step s = direction_known(in);
	uint64_t taint;
	bool equal;

	if (s != STEP_NEXT || !repetition_begins(in, insn))
		return s;
	b = repeated ? load_now(in, insn, in->address[0], bytes)
		     : load(in, insn, in->address[0], bytes);
	if (insn->mems == 1) {
		a = get_gpr(in, GPR_RAX, bytes);
	} else {
		a = b;
		b = repeated ? load_now(in, insn, in->address[1], bytes)
			     : load(in, insn, in->address[1], bytes);
	}
	taint = a.taint | b.taint;
	if (repeated && taint)
		return need(in, taint, STEP_UNKNOWN_PATH);
	compare_flags(in, a.v, b.v, bytes, taint);
	equal = a.v == b.v;
	for (int i = 0; i < insn->mems; i++)
		advance(in, insn, insn->mem[i].base, bytes);
	count_down(in, insn, insn->flags & INSN_REP ? !equal : equal);
	return STEP_NEXT;
}
