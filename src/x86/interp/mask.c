/* SPDX-License-Identifier: MIT */
/*
 * mask - AVX-512 mask registers and comparisons into them
 */
#include <string.h>

#include "mask.h"
#include "flags.h"
#include "operand.h"
#include "vector.h"

#include "src/base/signal_safe.h"

static void set_mask(struct interp *in, unsigned reg, struct value v)
{
	in->mask_loaded |= 1u << reg;
	in->mask[reg] = v.v;
	in->mask_taint[reg] = v.taint;
}

static struct value get_mask(struct interp *in, unsigned reg, unsigned bits)
{
	struct value v;

	v.v = *mask_value(in, reg);
	v.taint = in->mask_taint[reg];
	if (bits < 64)
		v.v &= (1ull << bits) - 1;
	return v;
}

/* Bits of a comparison's result that the write mask leaves out are zero. */
enum step mask_result(struct interp *in, const struct insn *insn, uint64_t bits,
		      uint64_t taint)
{
	if (insn->write_mask) {
		bits &= *mask_value(in, insn->write_mask);
		taint |= in->mask_taint[insn->write_mask];
	}
	set_mask(in, insn->op[0].reg, (struct value){ bits, taint });
	return STEP_NEXT;
}

/* The last letter of a mask instruction says its width. */
static unsigned mask_bits(const struct insn *insn)
{
	switch (insn->mnemonic) {
#define WIDTH(name)                                                            \
	case ZYDIS_MNEMONIC_##name##B:                                         \
		return 8;                                                      \
	case ZYDIS_MNEMONIC_##name##W:                                         \
		return 16;                                                     \
	case ZYDIS_MNEMONIC_##name##D:                                         \
		return 32;
		WIDTH(KMOV)
		WIDTH(KAND)
		WIDTH(KANDN)
		WIDTH(KOR)
		WIDTH(KXOR)
		WIDTH(KXNOR)
		WIDTH(KNOT)
		WIDTH(KADD)
		WIDTH(KORTEST)
		WIDTH(KTEST)
		WIDTH(KSHIFTL)
		WIDTH(KSHIFTR)
	default:
		return 64;
	}
}

enum step step_kmov(struct interp *in, const struct insn *insn)
{
	unsigned bits = mask_bits(insn);
	struct value v;

	if (insn->op[1].kind == OPERAND_MASK) {
		v = get_mask(in, insn->op[1].reg, bits);
	} else {
		v = read_operand(in, insn, 1);
		v.v &= low_mask(bits / 8);
	}
	if (insn->op[0].kind != OPERAND_MASK)
		return write_operand(in, insn, 0, v);
	set_mask(in, insn->op[0].reg, v);
	return STEP_NEXT;
}

enum step step_klogic(struct interp *in, const struct insn *insn)
{
	unsigned bits = mask_bits(insn);
	struct value a = get_mask(in, insn->op[1].reg, bits), b = a;
	bool same = insn->operands == 3 && insn->op[1].reg == insn->op[2].reg;

	if (insn->operands == 3 && insn->op[2].kind == OPERAND_MASK)
		b = get_mask(in, insn->op[2].reg, bits);
	a.taint |= b.taint;
	switch (insn->mnemonic) {
#define EACH(name)                                                             \
	case ZYDIS_MNEMONIC_##name##B:                                         \
	case ZYDIS_MNEMONIC_##name##W:                                         \
	case ZYDIS_MNEMONIC_##name##D:                                         \
	case ZYDIS_MNEMONIC_##name##Q:
		EACH(KAND)
		a.v &= b.v;
		break;
		EACH(KANDN)
		a.v = ~a.v & b.v;
		break;
		EACH(KOR)
		a.v |= b.v;
		break;
		EACH(KXOR)
		a.v ^= b.v;
		if (same)
			a.taint = 0;
		break;
		EACH(KXNOR)
		a.v = ~(a.v ^ b.v);
		if (same)
			a.taint = 0;
		break;
		EACH(KNOT)
		a.v = ~a.v;
		break;
	default: /* kadd */
		a.v += b.v;
	}
	a.v &= low_mask(bits / 8);
	set_mask(in, insn->op[0].reg, a);
	return STEP_NEXT;
}

enum step step_kshift(struct interp *in, const struct insn *insn)
{
	unsigned bits = mask_bits(insn), by = insn->imm & 0xff;
	struct value a = get_mask(in, insn->op[1].reg, bits);

	if (by >= bits)
		a.v = 0;
	else if (insn->mnemonic == ZYDIS_MNEMONIC_KSHIFTLB ||
		 insn->mnemonic == ZYDIS_MNEMONIC_KSHIFTLW ||
		 insn->mnemonic == ZYDIS_MNEMONIC_KSHIFTLD ||
		 insn->mnemonic == ZYDIS_MNEMONIC_KSHIFTLQ)
		a.v = a.v << by & low_mask(bits / 8);
	else
		a.v >>= by;
	set_mask(in, insn->op[0].reg, a);
	return STEP_NEXT;
}

enum step step_kunpck(struct interp *in, const struct insn *insn)
{
	unsigned bits = insn->mnemonic == ZYDIS_MNEMONIC_KUNPCKBW   ? 8
			: insn->mnemonic == ZYDIS_MNEMONIC_KUNPCKWD ? 16
								    : 32;
	struct value high = get_mask(in, insn->op[1].reg, bits);
	struct value low = get_mask(in, insn->op[2].reg, bits);

	set_mask(in, insn->op[0].reg,
		 (struct value){ high.v << bits | low.v,
				 high.taint | low.taint });
	return STEP_NEXT;
}

enum step step_kortest(struct interp *in, const struct insn *insn)
{
	unsigned bits = mask_bits(insn);
	struct value a = get_mask(in, insn->op[0].reg, bits);
	struct value b = get_mask(in, insn->op[1].reg, bits);
	uint64_t any = a.v | b.v;
	uint32_t flags = any ? 0 : FLAG_ZF;

	if (any == low_mask(bits / 8))
		flags |= FLAG_CF;
	set_flags(in, FLAGS_ALL, 0, flags, a.taint | b.taint);
	return STEP_NEXT;
}

enum step step_ktest(struct interp *in, const struct insn *insn)
{
	unsigned bits = mask_bits(insn);
	struct value a = get_mask(in, insn->op[0].reg, bits);
	struct value b = get_mask(in, insn->op[1].reg, bits);

	set_flags(in, FLAGS_ALL, 0,
		  (a.v & b.v ? 0 : FLAG_ZF) | (~a.v & b.v ? 0 : FLAG_CF),
		  a.taint | b.taint);
	return STEP_NEXT;
}

enum relation {
	IS_EQUAL,
	IS_LESS,
	IS_LESS_EQUAL,
	IS_NEVER,
	IS_NOT_EQUAL,
	IS_NOT_LESS,
	IS_GREATER,
	IS_ALWAYS,
	TEST_ANY, /* vptestm */
	TEST_NONE,
};

struct comparison {
	unsigned size;
	bool is_signed;
	enum relation relation;
};

static struct comparison comparison_of(const struct insn *insn)
{
	enum relation by_imm = insn->imm & 7;

	switch (insn->mnemonic) {
#define COMPARE(name, size, is_signed, relation)                               \
	case ZYDIS_MNEMONIC_##name:                                            \
		return (struct comparison){ size, is_signed, relation };
#define COMPARE4(name, is_signed, relation)                                    \
	COMPARE(name##B, 1, is_signed, relation)                               \
	COMPARE(name##W, 2, is_signed, relation)                               \
	COMPARE(name##D, 4, is_signed, relation)                               \
	COMPARE(name##Q, 8, is_signed, relation)
		COMPARE4(VPCMP, true, by_imm)
		COMPARE4(VPCMPU, false, by_imm)
		COMPARE4(VPCMPEQ, false, IS_EQUAL)
		COMPARE4(VPCMPGT, true, IS_GREATER)
		COMPARE4(VPTESTM, false, TEST_ANY)
		COMPARE4(VPTESTNM, false, TEST_NONE)
	default:
		return (struct comparison){ 0, false, IS_NEVER };
	}
}

static uint64_t element(const struct vec *v, unsigned i, unsigned size)
{
	uint64_t x = 0;

	memcpy(&x, v->bytes + i * size, size);
	return x;
}

static bool holds(const struct comparison *c, uint64_t a, uint64_t b)
{
	bool less = c->is_signed ? (int64_t)sign_extend(a, c->size) <
					   (int64_t)sign_extend(b, c->size)
				 : a < b;

	switch (c->relation) {
	case IS_EQUAL:
		return a == b;
	case IS_LESS:
		return less;
	case IS_LESS_EQUAL:
		return less || a == b;
	case IS_NEVER:
		return false;
	case IS_NOT_EQUAL:
		return a != b;
	case IS_NOT_LESS:
		return !less;
	case IS_GREATER:
		return !less && a != b;
	case IS_ALWAYS:
		return true;
	case TEST_ANY:
		return a & b;
	default:
		return !(a & b);
	}
}

/* vpcmp, vpcmpu, vptestm, vptestnm; vpcmpeq and vpcmpgt into a mask */
enum step step_mask_compare(struct interp *in, const struct insn *insn)
{
	struct comparison c = comparison_of(insn);
	unsigned bytes = insn->vector_bytes;
	uint64_t bits = 0, taint = 0;
	struct vec a, b;

	if (!c.size || insn->op[0].kind != OPERAND_MASK)
		return step_unknown(in, insn);
	vec_read(in, insn, 1, &a);
	vec_read(in, insn, 2, &b);
	for (unsigned i = 0; i * c.size < bytes; i++)
		if (holds(&c, element(&a, i, c.size), element(&b, i, c.size)))
			bits |= 1ull << i;
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++)
		taint |= a.taint[i] | b.taint[i];
	return mask_result(in, insn, bits, taint);
}

static unsigned spread_size(uint16_t mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_VPMOVB2M:
	case ZYDIS_MNEMONIC_VPMOVM2B:
		return 1;
	case ZYDIS_MNEMONIC_VPMOVW2M:
	case ZYDIS_MNEMONIC_VPMOVM2W:
		return 2;
	case ZYDIS_MNEMONIC_VPMOVD2M:
	case ZYDIS_MNEMONIC_VPMOVM2D:
		return 4;
	default:
		return 8;
	}
}

/* vpmovb2m, vpmovw2m, vpmovd2m, vpmovq2m: the top bit of each element */
enum step step_vec_to_mask(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->vector_bytes, size = spread_size(insn->mnemonic);
	struct value r = { 0, 0 };
	struct vec v;

	vec_read(in, insn, 1, &v);
	for (unsigned i = 0; i * size < bytes; i++)
		r.v |= (uint64_t)(v.bytes[(i + 1) * size - 1] >> 7) << i;
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++)
		r.taint |= v.taint[i];
	set_mask(in, insn->op[0].reg, r);
	return STEP_NEXT;
}

enum step step_mask_to_vec(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->vector_bytes, size = spread_size(insn->mnemonic);
	struct value k = get_mask(in, insn->op[1].reg, 64);
	struct vec v;

	for (unsigned i = 0; i * size < bytes; i++)
		memset(v.bytes + i * size, k.v >> i & 1 ? 0xff : 0, size);
	for (unsigned i = 0; i < LANES; i++)
		v.taint[i] = k.taint;
	return vec_write(in, insn, 0, &v, bytes);
}
