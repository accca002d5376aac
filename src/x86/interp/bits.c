/* SPDX-License-Identifier: MIT */
/*
 * bits - shifts, rotates, bit tests and counts, BMI
 */
#include <cpuid.h>

#include "bits.h"
#include "flags.h"
#include "operand.h"

#include "src/base/signal_safe.h"

/*
 * Without BMI1 and LZCNT the encodings of tzcnt and lzcnt are bsf and bsr.
 */
static bool has_tzcnt, has_lzcnt;

__attribute__((constructor(101))) static void find_bit_counts(void)
{
	unsigned a, b, c, d;

	if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
		has_tzcnt = b >> 3 & 1;
	if (__get_cpuid(0x80000001, &a, &b, &c, &d))
		has_lzcnt = c >> 5 & 1;
}

/* The count of a shift: operand @i, or 1 if there is none. */
static struct value shift_count(struct interp *in, const struct insn *insn,
				int i)
{
	struct value count = { 1, 0 };

	if (i < insn->operands)
		count = read_operand(in, insn, i);
	count.v &= insn->op[0].bytes == 8 ? 63 : 31;
	return count;
}

/* The count is unknown, and so is all that depends on it. */
static enum step unsure_shift(struct interp *in, const struct insn *insn,
			      uint64_t taint)
{
	in->carry_taint |= taint;
	in->status_taint |= taint;
	return write_operand(in, insn, 0, (struct value){ 0, taint });
}

enum step step_shift(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->op[0].bytes, bits = 8 * bytes;
	struct value a = read_operand(in, insn, 0);
	struct value count = shift_count(in, insn, 1);
	uint32_t flags, undefined = FLAG_AF;
	uint64_t n = count.v, r;
	bool carry, overflow;

	if (count.taint)
		return unsure_shift(in, insn, a.taint | count.taint);
	if (!n)
		return write_operand(in, insn, 0, a);
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_SHL:
		r = a.v << n;
		carry = n <= bits && a.v >> (bits - n) & 1;
		overflow = !(r & sign_bit(bytes)) == carry;
		break;
	case ZYDIS_MNEMONIC_SHR:
		r = a.v >> n;
		carry = a.v >> (n - 1) & 1;
		overflow = a.v & sign_bit(bytes);
		break;
	default:
		r = (uint64_t)((int64_t)sign_extend(a.v, bytes) >> n);
		carry = (int64_t)sign_extend(a.v, bytes) >> (n - 1) & 1;
		overflow = false;
	}
	flags = result_flags(r, bytes);
	if (carry)
		flags |= FLAG_CF;
	if (overflow)
		flags |= FLAG_OF;
	if (n != 1)
		undefined |= FLAG_OF;
	if (n >= bits && insn->mnemonic != ZYDIS_MNEMONIC_SAR)
		undefined |= FLAG_CF;
	set_flags(in, FLAGS_ALL & ~undefined, undefined, flags, a.taint);
	return write_operand(in, insn, 0, (struct value){ r, a.taint });
}

enum step step_rotate(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->op[0].bytes, bits = 8 * bytes;
	struct value a = read_operand(in, insn, 0);
	struct value count = shift_count(in, insn, 1);
	bool left = insn->mnemonic == ZYDIS_MNEMONIC_ROL;
	uint64_t n = count.v % bits, r = a.v;
	uint32_t flags = 0;
	bool carry, overflow;

	if (count.taint)
		return unsure_shift(in, insn, a.taint | count.taint);
	if (!count.v)
		return write_operand(in, insn, 0, a);
	if (n)
		r = left ? a.v << n | a.v >> (bits - n)
			 : a.v >> n | a.v << (bits - n);
	carry = left ? r & 1 : !!(r & sign_bit(bytes));
	overflow = left ? carry ^ !!(r & sign_bit(bytes))
			: carry ^ !!(r & sign_bit(bytes) >> 1);
	if (carry)
		flags |= FLAG_CF;
	if (overflow)
		flags |= FLAG_OF;
	if (count.v == 1)
		set_flags(in, FLAG_CF | FLAG_OF, 0, flags, a.taint);
	else
		set_flags(in, FLAG_CF, FLAG_OF, flags, a.taint);
	return write_operand(in, insn, 0, (struct value){ r, a.taint });
}

/* rcl, rcr: rotate through the carry, one bit at a time */
enum step step_rotate_carry(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->op[0].bytes, bits = 8 * bytes;
	struct value a = read_operand(in, insn, 0);
	struct value count = shift_count(in, insn, 1);
	uint64_t taint = a.taint | flags_taint(in, FLAG_CF);
	bool left = insn->mnemonic == ZYDIS_MNEMONIC_RCL;
	bool carry = in->cpu.rflags & FLAG_CF, next, overflow;
	uint64_t r = a.v;

	if (count.taint)
		return unsure_shift(in, insn, taint | count.taint);
	if (!count.v)
		return write_operand(in, insn, 0, a);
	for (unsigned i = count.v % (bits + 1); i > 0; i--) {
		next = left ? !!(r & sign_bit(bytes)) : r & 1;
		r = left ? r << 1 | carry
			 : r >> 1 | (uint64_t)carry << (bits - 1);
		r &= low_mask(bytes);
		carry = next;
	}
	overflow =
		left ? carry ^ !!(r & sign_bit(bytes))
		     : !!(r & sign_bit(bytes)) ^ !!(r & sign_bit(bytes) >> 1);
	if (count.v == 1)
		set_flags(in, FLAG_CF | FLAG_OF, 0,
			  (carry ? FLAG_CF : 0) | (overflow ? FLAG_OF : 0),
			  taint);
	else
		set_flags(in, FLAG_CF, FLAG_OF, carry ? FLAG_CF : 0, taint);
	return write_operand(in, insn, 0, (struct value){ r, taint });
}

/* shld, shrd */
enum step step_shift_double(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->op[0].bytes, bits = 8 * bytes;
	struct value a = read_operand(in, insn, 0);
	struct value b = read_operand(in, insn, 1);
	struct value count = shift_count(in, insn, 2);
	bool left = insn->mnemonic == ZYDIS_MNEMONIC_SHLD;
	uint64_t n = count.v, taint = a.taint | b.taint, r;
	uint32_t flags, undefined = FLAG_AF;

	if (count.taint)
		return unsure_shift(in, insn, taint | count.taint);
	if (!n)
		return write_operand(in, insn, 0, a);
	if (n > bits)
		return step_unknown(in, insn);
	if (left)
		r = n == bits ? b.v : a.v << n | b.v >> (bits - n);
	else
		r = n == bits ? b.v : a.v >> n | b.v << (bits - n);
	flags = result_flags(r, bytes);
	if (left ? a.v >> (bits - n) & 1 : a.v >> (n - 1) & 1)
		flags |= FLAG_CF;
	if ((a.v ^ r) & sign_bit(bytes))
		flags |= FLAG_OF;
	if (n != 1)
		undefined |= FLAG_OF;
	set_flags(in, FLAGS_ALL & ~undefined, undefined, flags, taint);
	return write_operand(in, insn, 0, (struct value){ r, taint });
}

enum step step_bit_test(struct interp *in, const struct insn *insn)
{
	unsigned bits = 8 * insn->op[0].bytes;
	struct value a = read_operand(in, insn, 0);
	struct value b = read_operand(in, insn, 1);
	uint64_t bit = 1ull << (b.v % bits);
	struct value r = { a.v, a.taint | b.taint };

	set_flags(in, FLAG_CF, FLAGS_STATUS & ~FLAG_ZF, a.v & bit ? FLAG_CF : 0,
		  r.taint);
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
		return STEP_NEXT;
	case ZYDIS_MNEMONIC_BTS:
		r.v |= bit;
		break;
	case ZYDIS_MNEMONIC_BTR:
		r.v &= ~bit;
		break;
	default:
		r.v ^= bit;
	}
	return write_operand(in, insn, 0, r);
}

static enum step bit_scan(struct interp *in, const struct insn *insn,
			  bool forward)
{
	struct value a = read_operand(in, insn, 1);
	struct value r = { 0, a.taint };

	set_flags(in, FLAG_ZF, FLAGS_ALL & ~FLAG_ZF, a.v ? 0 : FLAG_ZF,
		  a.taint);
	if (a.v)
		r.v = forward ? __builtin_ctzll(a.v)
			      : 63 - __builtin_clzll(a.v);
	else
		r.taint |= TAINT_UNKNOWN; /* mostly kept, but undefined */
	if (a.taint)
		r.taint = a.taint;
	return write_operand(in, insn, 0, r);
}

enum step step_bit_scan(struct interp *in, const struct insn *insn)
{
	return bit_scan(in, insn, insn->mnemonic == ZYDIS_MNEMONIC_BSF);
}

enum step step_zero_count(struct interp *in, const struct insn *insn)
{
	bool trailing = insn->mnemonic == ZYDIS_MNEMONIC_TZCNT;
	unsigned bits = 8 * insn->op[0].bytes;
	struct value a = read_operand(in, insn, 1);
	struct value r = { bits, a.taint };

	if (trailing ? !has_tzcnt : !has_lzcnt)
		return bit_scan(in, insn, trailing);
	if (a.v)
		r.v = trailing ? (unsigned)__builtin_ctzll(a.v)
			       : __builtin_clzll(a.v) - (64 - bits);
	set_flags(in, FLAG_ZF | FLAG_CF, FLAGS_STATUS & ~FLAG_ZF,
		  (r.v ? 0 : FLAG_ZF) | (a.v ? 0 : FLAG_CF), a.taint);
	return write_operand(in, insn, 0, r);
}

enum step step_popcnt(struct interp *in, const struct insn *insn)
{
	struct value a = read_operand(in, insn, 1);

	set_flags(in, FLAGS_ALL, 0, a.v ? 0 : FLAG_ZF, a.taint);
	a.v = __builtin_popcountll(a.v);
	return write_operand(in, insn, 0, a);
}

static uint64_t deposit(uint64_t v, uint64_t mask)
{
	uint64_t r = 0;

	for (uint64_t bit = 1; mask; mask &= mask - 1, bit <<= 1)
		if (v & bit)
			r |= mask & -mask;
	return r;
}

static uint64_t extract(uint64_t v, uint64_t mask)
{
	uint64_t r = 0;

	for (uint64_t bit = 1; mask; mask &= mask - 1, bit <<= 1)
		if (v & mask & -mask)
			r |= bit;
	return r;
}

/* pdep pext shlx shrx sarx rorx: no flags */
enum step step_bmi_quiet(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->op[0].bytes, bits = 8 * bytes;
	struct value a = read_operand(in, insn, 1);
	struct value b = read_operand(in, insn, 2);
	uint64_t n = b.v & (bits - 1);
	struct value r = { 0, a.taint | b.taint };

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_PDEP:
		r.v = deposit(a.v, b.v);
		break;
	case ZYDIS_MNEMONIC_PEXT:
		r.v = extract(a.v, b.v);
		break;
	case ZYDIS_MNEMONIC_SHLX:
		r.v = a.v << n;
		break;
	case ZYDIS_MNEMONIC_SHRX:
		r.v = a.v >> n;
		break;
	case ZYDIS_MNEMONIC_SARX:
		r.v = (uint64_t)((int64_t)sign_extend(a.v, bytes) >> n);
		break;
	default: /* rorx */
		r.v = n ? a.v >> n | a.v << (bits - n) : a.v;
	}
	return write_operand(in, insn, 0, r);
}

/* andn bextr bzhi, with the flags that each defines */
enum step step_bmi_three(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->op[0].bytes, bits = 8 * bytes;
	struct value a = read_operand(in, insn, 1);
	struct value b = read_operand(in, insn, 2);
	struct value r = { 0, a.taint | b.taint };
	uint32_t undefined = FLAG_AF | FLAG_PF, flags = 0;
	uint64_t start = b.v & 0xff, n = b.v >> 8 & 0xff;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_ANDN:
		r.v = ~a.v & b.v;
		break;
	case ZYDIS_MNEMONIC_BEXTR:
		r.v = start < bits ? a.v >> start : 0;
		if (n < 64)
			r.v &= (1ull << n) - 1;
		undefined |= FLAG_SF;
		break;
	default: /* bzhi: the count is the low byte */
		r.v = start < bits ? a.v & ((1ull << start) - 1) : a.v;
		flags = start >= bits ? FLAG_CF : 0;
	}
	flags |= result_flags(r.v, bytes);
	set_flags(in, FLAGS_ALL & ~undefined, undefined, flags, r.taint);
	return write_operand(in, insn, 0, r);
}

/* blsr blsi blsmsk */
enum step step_bmi_lowest(struct interp *in, const struct insn *insn)
{
	struct value a = read_operand(in, insn, 1);
	struct value r = { 0, a.taint };
	bool carry = !a.v;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_BLSR:
		r.v = a.v & (a.v - 1);
		break;
	case ZYDIS_MNEMONIC_BLSI:
		r.v = a.v & -a.v;
		carry = a.v;
		break;
	default:
		r.v = a.v ^ (a.v - 1);
	}
	set_flags(in, FLAGS_ALL & ~(FLAG_AF | FLAG_PF), FLAG_AF | FLAG_PF,
		  result_flags(r.v, insn->op[0].bytes) | (carry ? FLAG_CF : 0),
		  r.taint);
	return write_operand(in, insn, 0, r);
}
