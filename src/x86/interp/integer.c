/* SPDX-License-Identifier: MIT */
/*
 * integer - moves, additions and logic on general registers
 */
#include "integer.h"
#include "flags.h"
#include "load_store.h"
#include "operand.h"

#include "src/base/signal_safe.h"

enum step step_nop(struct interp *in, const struct insn *insn)
{
	return STEP_NEXT;
}

enum step step_mov(struct interp *in, const struct insn *insn)
{
	return write_operand(in, insn, 0, read_operand(in, insn, 1));
}

enum step step_movsx(struct interp *in, const struct insn *insn)
{
	struct value v = read_operand(in, insn, 1);

	v.v = sign_extend(v.v, insn->op[1].bytes);
	return write_operand(in, insn, 0, v);
}

enum step step_lea(struct interp *in, const struct insn *insn)
{
	struct value v = { 0, 0 };

	/* lea ignores the segment, so the address is always known. */
	decode_address(insn, &insn->mem[0], &in->cpu, &v.v);
	for (uint32_t left = insn->gpr_address; left; left &= left - 1)
		v.taint |= in->gpr_taint[__builtin_ctz(left)];
	return write_operand(in, insn, 0, v);
}

enum step step_movbe(struct interp *in, const struct insn *insn)
{
	struct value v = read_operand(in, insn, 1);

	v.v = __builtin_bswap64(v.v) >> (64 - 8 * insn->op[1].bytes);
	return write_operand(in, insn, 0, v);
}

enum step step_bswap(struct interp *in, const struct insn *insn)
{
	struct value v = read_operand(in, insn, 0);
	unsigned bytes = insn->op[0].bytes;

	if (bytes == 2)
		return step_unknown(in, insn);
	v.v = __builtin_bswap64(v.v) >> (64 - 8 * bytes);
	return write_operand(in, insn, 0, v);
}

static bool same_register(const struct insn *insn)
{
	const struct operand *a = &insn->op[0], *b = &insn->op[1];

	return a->kind == b->kind && a->reg == b->reg &&
	       (a->kind == OPERAND_GPR || a->kind == OPERAND_HIGH8);
}

static struct value carry_in(const struct interp *in)
{
	return (struct value){ in->cpu.rflags & FLAG_CF,
			       flags_taint(in, FLAG_CF) };
}

enum step step_add(struct interp *in, const struct insn *insn)
{
	struct value a = read_operand(in, insn, 0);
	struct value b = read_operand(in, insn, 1);
	struct value c = { 0, 0 }, r;
	unsigned bytes = insn->op[0].bytes;

	if (insn->mnemonic == ZYDIS_MNEMONIC_ADC)
		c = carry_in(in);
	r.v = a.v + b.v + c.v;
	r.taint = a.taint | b.taint | c.taint;
	set_flags(in, FLAGS_ALL, 0, add_flags(a.v, b.v, c.v, r.v, bytes),
		  r.taint);
	if (insn->mnemonic == ZYDIS_MNEMONIC_XADD)
		write_operand(in, insn, 1, a);
	return write_operand(in, insn, 0, r);
}

enum step step_sub(struct interp *in, const struct insn *insn)
{
	struct value a = read_operand(in, insn, 0);
	struct value b = read_operand(in, insn, 1);
	struct value c = { 0, 0 }, r;
	unsigned bytes = insn->op[0].bytes;

	if (insn->mnemonic == ZYDIS_MNEMONIC_SBB)
		c = carry_in(in);
	r.v = a.v - b.v - c.v;
	r.taint = a.taint | b.taint | c.taint;
	if (same_register(insn))
		r.taint = c.taint; /* 0, or minus the carry */
	set_flags(in, FLAGS_ALL, 0, sub_flags(a.v, b.v, c.v, r.v, bytes),
		  r.taint);
	if (insn->mnemonic == ZYDIS_MNEMONIC_CMP)
		return STEP_NEXT;
	return write_operand(in, insn, 0, r);
}

enum step step_logic(struct interp *in, const struct insn *insn)
{
	struct value a = read_operand(in, insn, 0);
	struct value b = read_operand(in, insn, 1);
	unsigned bytes = insn->op[0].bytes;
	struct value r = { 0, a.taint | b.taint };

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_TEST:
		r.v = a.v & b.v;
		if (insn->op[1].kind == OPERAND_IMM && !(b.v & low_mask(bytes)))
			r.taint = 0;
		break;
	case ZYDIS_MNEMONIC_OR:
		r.v = a.v | b.v;
		if (insn->op[1].kind == OPERAND_IMM &&
		    !(~b.v & low_mask(bytes)))
			r.taint = 0;
		break;
	default:
		r.v = a.v ^ b.v;
		if (same_register(insn))
			r.taint = 0;
	}
	set_flags(in, FLAGS_ALL & ~FLAG_AF, FLAG_AF, result_flags(r.v, bytes),
		  r.taint);
	if (insn->mnemonic == ZYDIS_MNEMONIC_TEST)
		return STEP_NEXT;
	return write_operand(in, insn, 0, r);
}

enum step step_incdec(struct interp *in, const struct insn *insn)
{
	bool up = insn->mnemonic == ZYDIS_MNEMONIC_INC;
	struct value a = read_operand(in, insn, 0);
	struct value r = { up ? a.v + 1 : a.v - 1, a.taint };
	unsigned bytes = insn->op[0].bytes;
	uint32_t flags = up ? add_flags(a.v, 1, 0, r.v, bytes)
			    : sub_flags(a.v, 1, 0, r.v, bytes);

	set_flags(in, FLAGS_STATUS, 0, flags, r.taint);
	return write_operand(in, insn, 0, r);
}

enum step step_neg(struct interp *in, const struct insn *insn)
{
	struct value a = read_operand(in, insn, 0);
	struct value r = { -a.v, a.taint };

	set_flags(in, FLAGS_ALL, 0,
		  sub_flags(0, a.v, 0, r.v, insn->op[0].bytes), r.taint);
	return write_operand(in, insn, 0, r);
}

enum step step_not(struct interp *in, const struct insn *insn)
{
	struct value a = read_operand(in, insn, 0);

	a.v = ~a.v;
	return write_operand(in, insn, 0, a);
}

enum step step_xchg(struct interp *in, const struct insn *insn)
{
	struct value a = read_operand(in, insn, 0);
	struct value b = read_operand(in, insn, 1);
	enum step s = write_operand(in, insn, 0, b);

	if (s == STEP_NEXT)
		s = write_operand(in, insn, 1, a);
	return s;
}

enum step step_cmpxchg(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->op[0].bytes;
	struct value old = read_operand(in, insn, 0);
	struct value new = read_operand(in, insn, 1);
	struct value acc = get_gpr(in, GPR_RAX, bytes);
	uint64_t taint = old.taint | acc.taint;

	compare_flags(in, acc.v, old.v, bytes, taint);
	if (taint) {
		/* It is unknown which of the two is written. */
		in->gpr_taint[GPR_RAX] |= taint;
		if (insn->op[0].kind == OPERAND_GPR) {
			in->gpr_taint[insn->op[0].reg] |= taint | new.taint;
			return STEP_NEXT;
		}
		return write_operand(in, insn, 0,
				     (struct value){ 0, taint | new.taint });
	}
	if (acc.v == old.v)
		return write_operand(in, insn, 0, new);
	set_gpr(in, GPR_RAX, bytes, old);
	if (insn->op[0].kind == OPERAND_GPR)
		return STEP_NEXT;
	return write_operand(in, insn, 0, old);
}

static enum step store_pair(struct interp *in, const struct insn *insn,
			    unsigned half, struct value low, struct value high)
{
	uint64_t addr = in->address[0];

	return store(in, addr, half, low) && store(in, addr + half, half, high)
		       ? STEP_NEXT
		       : STEP_FULL;
}

/* cmpxchg8b, cmpxchg16b */
enum step step_cmpxchg_pair(struct interp *in, const struct insn *insn)
{
	unsigned half = insn->op[0].bytes / 2;
	struct value old[2], acc[2];
	uint64_t taint;
	bool equal;

	for (unsigned i = 0; i < 2; i++)
		old[i] = load(in, insn, in->address[0] + half * i, half);
	acc[0] = get_gpr(in, GPR_RAX, half);
	acc[1] = get_gpr(in, GPR_RDX, half);
	taint = old[0].taint | old[1].taint | acc[0].taint | acc[1].taint;
	equal = old[0].v == acc[0].v && old[1].v == acc[1].v;
	set_flags(in, FLAG_ZF, 0, equal ? FLAG_ZF : 0, taint);
	if (taint) {
		struct value unsure = { 0, taint | in->gpr_taint[GPR_RBX] |
						   in->gpr_taint[GPR_RCX] };

		in->gpr_taint[GPR_RAX] |= taint;
		in->gpr_taint[GPR_RDX] |= taint;
		return store_pair(in, insn, half, unsure, unsure);
	}
	if (equal)
		return store_pair(in, insn, half, get_gpr(in, GPR_RBX, half),
				  get_gpr(in, GPR_RCX, half));
	set_gpr(in, GPR_RAX, half, old[0]);
	set_gpr(in, GPR_RDX, half, old[1]);
	return store_pair(in, insn, half, old[0], old[1]);
}

enum step step_cmov(struct interp *in, const struct insn *insn)
{
	struct value c = condition(in, insn->condition);
	struct value a = read_operand(in, insn, 0);
	struct value b = read_operand(in, insn, 1);
	struct value r;

	if (c.taint)
		r = (struct value){ 0, c.taint | a.taint | b.taint };
	else
		r = c.v ? b : a;
	return write_operand(in, insn, 0, r);
}

enum step step_setcc(struct interp *in, const struct insn *insn)
{
	return write_operand(in, insn, 0, condition(in, insn->condition));
}

/* cbw cwde cdqe: the accumulator widened in place */
enum step step_widen(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->mnemonic == ZYDIS_MNEMONIC_CBW    ? 2
			 : insn->mnemonic == ZYDIS_MNEMONIC_CWDE ? 4
								 : 8;
	struct value v = get_gpr(in, GPR_RAX, bytes / 2);

	v.v = sign_extend(v.v, bytes / 2);
	set_gpr(in, GPR_RAX, bytes, v);
	return STEP_NEXT;
}

/* cwd cdq cqo: the accumulator's sign into rdx */
enum step step_spread(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->mnemonic == ZYDIS_MNEMONIC_CWD   ? 2
			 : insn->mnemonic == ZYDIS_MNEMONIC_CDQ ? 4
								: 8;
	struct value v = get_gpr(in, GPR_RAX, bytes);

	v.v = v.v & sign_bit(bytes) ? ~0ull : 0;
	set_gpr(in, GPR_RDX, bytes, v);
	return STEP_NEXT;
}

enum step step_xlat(struct interp *in, const struct insn *insn)
{
	set_gpr(in, GPR_RAX, 1, load(in, insn, in->address[0], 1));
	return STEP_NEXT;
}

/* adcx, adox: read and write one flag each */
enum step step_adx(struct interp *in, const struct insn *insn)
{
	uint32_t flag =
		insn->mnemonic == ZYDIS_MNEMONIC_ADCX ? FLAG_CF : FLAG_OF;
	struct value a = read_operand(in, insn, 0);
	struct value b = read_operand(in, insn, 1);
	uint64_t carry = in->cpu.rflags & flag ? 1 : 0;
	uint64_t taint = a.taint | b.taint | flags_taint(in, flag);
	uint64_t r = a.v + b.v + carry;
	uint32_t flags = add_flags(a.v, b.v, carry, r, insn->op[0].bytes);

	set_flags(in, flag, 0, flags & FLAG_CF ? flag : 0, taint);
	return write_operand(in, insn, 0, (struct value){ r, taint });
}

enum step step_rdbase(struct interp *in, const struct insn *insn)
{
	struct value v = { in->cpu.fs_base,
			   in->cpu.fs_known ? 0 : TAINT_UNKNOWN };

	if (insn->mnemonic == ZYDIS_MNEMONIC_RDGSBASE)
		v.taint = cpu_state_gs_base(&in->cpu, &v.v) ? 0 : TAINT_UNKNOWN;
	return write_operand(in, insn, 0, v);
}
