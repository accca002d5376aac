/* SPDX-License-Identifier: MIT */
/*
 * mul - multiplication, division, CRC32
 */
#include "mul.h"
#include "flags.h"
#include "operand.h"

#include "src/base/signal_safe.h"

static void product_flags(struct interp *in, bool overflow, uint64_t taint)
{
	set_flags(in, FLAG_CF | FLAG_OF, FLAGS_STATUS & ~FLAG_OF,
		  overflow ? FLAG_CF | FLAG_OF : 0, taint);
}

/* mul, imul with one operand: rdx:rax, or ax for bytes */
static enum step multiply_wide(struct interp *in, const struct insn *insn,
			       bool is_signed)
{
	unsigned bytes = insn->op[0].bytes, bits = 8 * bytes;
	struct value a = get_gpr(in, GPR_RAX, bytes);
	struct value b = read_operand(in, insn, 0);
	uint64_t taint = a.taint | b.taint;
	unsigned __int128 p;
	uint64_t low, high;
	bool overflow;

	if (is_signed)
		p = (unsigned __int128)((__int128)(int64_t)sign_extend(a.v,
								       bytes) *
					(int64_t)sign_extend(b.v, bytes));
	else
		p = (unsigned __int128)a.v * b.v;
	low = (uint64_t)p & low_mask(bytes);
	high = (uint64_t)(p >> bits) & low_mask(bytes);
	overflow = high !=
		   (is_signed && low & sign_bit(bytes) ? low_mask(bytes) : 0);
	product_flags(in, overflow, taint);
	if (bytes == 1) {
		set_gpr(in, GPR_RAX, 2,
			(struct value){ low | high << 8, taint });
		return STEP_NEXT;
	}
	set_gpr(in, GPR_RAX, bytes, (struct value){ low, taint });
	set_gpr(in, GPR_RDX, bytes, (struct value){ high, taint });
	return STEP_NEXT;
}

enum step step_mul(struct interp *in, const struct insn *insn)
{
	return multiply_wide(in, insn, false);
}

enum step step_imul(struct interp *in, const struct insn *insn)
{
	int first = insn->operands == 3 ? 1 : 0;
	unsigned bytes = insn->op[0].bytes;
	struct value a, b, r;
	__int128 p;

	/* Zydis may list the accumulator of the one-operand form as operand. */
	if (insn->operands == 1)
		return multiply_wide(in, insn, true);
	a = read_operand(in, insn, first);
	b = read_operand(in, insn, first + 1);
	p = (__int128)(int64_t)sign_extend(a.v, bytes) *
	    (int64_t)sign_extend(b.v, bytes);
	r.v = (uint64_t)p;
	r.taint = a.taint | b.taint;
	product_flags(in, p != (int64_t)sign_extend(r.v, bytes), r.taint);
	return write_operand(in, insn, 0, r);
}

enum step step_mulx(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->op[0].bytes;
	struct value a = get_gpr(in, GPR_RDX, bytes);
	struct value b = read_operand(in, insn, 2);
	unsigned __int128 p = (unsigned __int128)a.v * b.v;
	uint64_t taint = a.taint | b.taint;

	write_operand(in, insn, 1, (struct value){ (uint64_t)p, taint });
	return write_operand(
		in, insn, 0,
		(struct value){ (uint64_t)(p >> (8 * bytes)), taint });
}

/*
 * div and idiv fault on overflow. If operands are unknown, the interpreter
 * assumes that the program does not fault.
 */
enum step step_div(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->op[0].bytes, bits = 8 * bytes;
	bool is_signed = insn->mnemonic == ZYDIS_MNEMONIC_IDIV;
	struct value b = read_operand(in, insn, 0);
	struct value low = get_gpr(in, GPR_RAX, bytes);
	struct value high = get_gpr(in, GPR_RDX, bytes);
	unsigned __int128 n, q, m, limit;
	bool negative_n = false, negative_b = false;
	uint64_t taint;

	if (bytes == 1) {
		low = get_gpr(in, GPR_RAX, 2);
		high = (struct value){ low.v >> 8, low.taint };
		low.v &= 0xff;
	}
	taint = low.taint | high.taint | b.taint;
	in->undefined |= FLAGS_ALL;
	if (taint) {
		low.v = high.v = 0;
		goto write;
	}
	if (!b.v)
		return STEP_SYSTEM;
	n = (unsigned __int128)high.v << bits | low.v;
	if (is_signed && high.v & sign_bit(bytes)) {
		negative_n = true;
		n = -n & (((unsigned __int128)1 << (2 * bits - 1)) * 2 - 1);
	}
	if (is_signed && b.v & sign_bit(bytes)) {
		negative_b = true;
		b.v = -b.v & low_mask(bytes);
	}
	if (is_signed) {
		limit = sign_bit(bytes) - (negative_n == negative_b);
	} else {
		limit = low_mask(bytes);
		if (high.v >= b.v)
			return STEP_SYSTEM;
	}
	q = n / b.v;
	m = n % b.v;
	if (q > limit)
		return STEP_SYSTEM;
	low.v = negative_n != negative_b ? -(uint64_t)q : (uint64_t)q;
	high.v = negative_n ? -(uint64_t)m : (uint64_t)m;
write:
	low.taint = high.taint = taint;
	if (bytes == 1) {
		low.v = (low.v & 0xff) | (high.v & 0xff) << 8;
		set_gpr(in, GPR_RAX, 2, low);
		return STEP_NEXT;
	}
	set_gpr(in, GPR_RAX, bytes, low);
	set_gpr(in, GPR_RDX, bytes, high);
	return STEP_NEXT;
}

enum step step_crc32(struct interp *in, const struct insn *insn)
{
	struct value a = read_operand(in, insn, 0);
	struct value b = read_operand(in, insn, 1);
	uint32_t crc = a.v;

	/* CRC32C, reflected, a bit at a time. */
	for (unsigned i = 0; i < 8u * insn->op[1].bytes; i++) {
		bool bit = (crc ^ b.v >> i) & 1;

		crc = crc >> 1 ^ (bit ? 0x82f63b78 : 0);
	}
	return write_operand(in, insn, 0,
			     (struct value){ crc, a.taint | b.taint });
}
