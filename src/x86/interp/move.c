/* SPDX-License-Identifier: MIT */
/*
 * move - moves of whole vectors and of parts, masked moves
 */
#include <string.h>

#include "move.h"
#include "flags.h"
#include "operand.h"
#include "vector.h"

#include "src/base/signal_safe.h"

static unsigned result_bytes(const struct insn *insn)
{
	return insn->vector_bytes ? insn->vector_bytes : LANE_BYTES;
}

enum step step_vec_move(struct interp *in, const struct insn *insn)
{
	struct vec v;

	vec_read(in, insn, 1, &v);
	return vec_write(in, insn, 0, &v, result_bytes(insn));
}

/* movd, movq: the low 4 or 8 bytes, the rest zero */
enum step step_vec_low(struct interp *in, const struct insn *insn)
{
	bool is_d = insn->mnemonic == ZYDIS_MNEMONIC_MOVD ||
		    insn->mnemonic == ZYDIS_MNEMONIC_VMOVD;
	unsigned bytes = is_d ? 4 : 8;
	struct value from;
	struct vec v;

	if (insn->op[1].kind == OPERAND_VEC) {
		from.v = vec_lanes(in, insn->op[1].reg)->q[0];
		from.taint = in->vec_taint[insn->op[1].reg][0];
	} else {
		from = read_operand(in, insn, 1);
	}
	from.v &= low_mask(bytes);
	if (insn->op[0].kind != OPERAND_VEC)
		return write_operand(in, insn, 0, from);
	v.lane[0].q[0] = from.v;
	v.lane[0].q[1] = 0;
	v.taint[0] = from.taint;
	return vec_write(in, insn, 0, &v, LANE_BYTES);
}

/* movss, movsd */
enum step step_vec_scalar_move(struct interp *in, const struct insn *insn)
{
	bool is_ss = insn->mnemonic == ZYDIS_MNEMONIC_MOVSS ||
		     insn->mnemonic == ZYDIS_MNEMONIC_VMOVSS;
	unsigned bytes = is_ss ? 4 : 8;
	int last = insn->operands - 1;
	struct vec v, low;

	if (insn->write_mask)
		return step_unknown(in, insn);
	vec_read(in, insn, last, &low);
	if (insn->op[0].kind == OPERAND_MEM)
		return vec_store(in, insn, insn->op[0].reg, &low, bytes);
	if (insn->op[last].kind == OPERAND_MEM)
		return vec_write(in, insn, 0, &low, LANE_BYTES);
	vec_read(in, insn, last - 1, &v);
	memcpy(&v.lane[0], &low.lane[0], bytes);
	v.taint[0] |= low.taint[0];
	return vec_write(in, insn, 0, &v, LANE_BYTES);
}

/* movlps movlpd movhps movhpd: one half from or to memory */
enum step step_vec_half(struct interp *in, const struct insn *insn)
{
	bool high = insn->mnemonic == ZYDIS_MNEMONIC_MOVHPS ||
		    insn->mnemonic == ZYDIS_MNEMONIC_MOVHPD ||
		    insn->mnemonic == ZYDIS_MNEMONIC_VMOVHPS ||
		    insn->mnemonic == ZYDIS_MNEMONIC_VMOVHPD;
	int last = insn->operands - 1;
	struct vec v, half;

	if (insn->op[0].kind == OPERAND_MEM) {
		vec_read(in, insn, 1, &v);
		v.lane[0].q[0] = v.lane[0].q[high];
		return vec_store(in, insn, insn->op[0].reg, &v, 8);
	}
	vec_read(in, insn, last - 1, &v);
	vec_read(in, insn, last, &half);
	v.lane[0].q[high] = half.lane[0].q[0];
	v.taint[0] |= half.taint[0];
	return vec_write(in, insn, 0, &v, LANE_BYTES);
}

static unsigned element_of(const struct insn *insn)
{
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_PEXTRB:
	case ZYDIS_MNEMONIC_VPEXTRB:
	case ZYDIS_MNEMONIC_PINSRB:
	case ZYDIS_MNEMONIC_VPINSRB:
		return 1;
	case ZYDIS_MNEMONIC_PEXTRW:
	case ZYDIS_MNEMONIC_VPEXTRW:
	case ZYDIS_MNEMONIC_PINSRW:
	case ZYDIS_MNEMONIC_VPINSRW:
		return 2;
	case ZYDIS_MNEMONIC_PEXTRQ:
	case ZYDIS_MNEMONIC_VPEXTRQ:
	case ZYDIS_MNEMONIC_PINSRQ:
	case ZYDIS_MNEMONIC_VPINSRQ:
		return 8;
	default:
		return 4;
	}
}

/* pextr, extractps */
enum step step_vec_extract(struct interp *in, const struct insn *insn)
{
	unsigned size = element_of(insn), i = insn->imm % (LANE_BYTES / size);
	struct value r = { 0, 0 };

	memcpy(&r.v, vec_lanes(in, insn->op[1].reg)->b + i * size, size);
	r.taint = in->vec_taint[insn->op[1].reg][0];
	return write_operand(in, insn, 0, r);
}

enum step step_vec_insert(struct interp *in, const struct insn *insn)
{
	unsigned size = element_of(insn), i = insn->imm % (LANE_BYTES / size);
	int from = insn->operands - 2;
	struct value x = read_operand(in, insn, from);
	struct vec v;

	vec_read(in, insn, insn->flags & INSN_VEX ? 1 : 0, &v);
	memcpy(v.bytes + i * size, &x.v, size);
	v.taint[0] |= x.taint;
	return vec_write(in, insn, 0, &v, LANE_BYTES);
}

/* pmovmskb movmskps movmskpd: the top bit of each element */
enum step step_vec_signs(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn), size = 1;
	struct value r = { 0, 0 };
	struct vec v;

	if (insn->mnemonic == ZYDIS_MNEMONIC_MOVMSKPS ||
	    insn->mnemonic == ZYDIS_MNEMONIC_VMOVMSKPS)
		size = 4;
	else if (insn->mnemonic == ZYDIS_MNEMONIC_MOVMSKPD ||
		 insn->mnemonic == ZYDIS_MNEMONIC_VMOVMSKPD)
		size = 8;
	vec_read(in, insn, 1, &v);
	for (unsigned i = 0; i * size < bytes; i++)
		r.v |= (uint64_t)(v.bytes[(i + 1) * size - 1] >> 7) << i;
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++)
		r.taint |= v.taint[i];
	return write_operand(in, insn, 0, r);
}

static uint32_t test_flags(const struct vec *a, const struct vec *b,
			   unsigned bytes, uint64_t which)
{
	uint64_t both = 0, only_b = 0;

	for (unsigned i = 0; i * 8 < bytes; i++) {
		uint64_t x = a->lane[i / 2].q[i % 2],
			 y = b->lane[i / 2].q[i % 2];

		both |= x & y & which;
		only_b |= ~x & y & which;
	}
	return (both ? 0 : FLAG_ZF) | (only_b ? 0 : FLAG_CF);
}

/* ptest vtestps vtestpd */
enum step step_vec_test(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn);
	uint64_t which = ~0ull, taint = 0;
	struct vec a, b;

	if (insn->mnemonic == ZYDIS_MNEMONIC_VTESTPS)
		which = 0x8000000080000000;
	else if (insn->mnemonic == ZYDIS_MNEMONIC_VTESTPD)
		which = 1ull << 63;
	vec_read(in, insn, 0, &a);
	vec_read(in, insn, 1, &b);
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++)
		taint |= a.taint[i] | b.taint[i];
	set_flags(in, FLAGS_ALL, 0, test_flags(&a, &b, bytes, which), taint);
	return STEP_NEXT;
}

enum step step_vec_zero(struct interp *in, const struct insn *insn)
{
	unsigned keep = insn->mnemonic == ZYDIS_MNEMONIC_VZEROUPPER ? 1 : 0;

	for (unsigned r = 0; r < 16; r++) {
		union lane *v = vec_lanes(in, r);

		memset(v + keep, 0, (LANES - keep) * LANE_BYTES);
		memset(in->vec_taint[r] + keep, 0,
		       (LANES - keep) * sizeof(in->vec_taint[r][0]));
	}
	return STEP_NEXT;
}

/* vmaskmov: a load clears unselected elements, a store leaves them alone */
enum step step_vec_masked(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->vector_bytes, size = insn->element_bytes;
	struct vec v, mask;
	uint64_t select;

	vec_read(in, insn, 2, &v);
	if (insn->op[0].kind == OPERAND_MEM)
		return vec_store(in, insn, insn->op[0].reg, &v, bytes);
	/* The accesses depended on the mask, so it is known. */
	vec_read(in, insn, 1, &mask);
	select = decode_vector_mask(insn, mask.lane);
	for (unsigned i = 0; i * size < bytes; i++)
		if (!(select >> i & 1))
			memset(v.bytes + i * size, 0, size);
	return vec_write(in, insn, 0, &v, bytes);
}

/* maskmovdqu: to [rdi] */
enum step step_vec_maskmov_bytes(struct interp *in, const struct insn *insn)
{
	struct vec v;

	vec_read(in, insn, 0, &v);
	return vec_store(in, insn, 0, &v, LANE_BYTES);
}

enum step step_ldmxcsr(struct interp *in, const struct insn *insn)
{
	enum {
		MASKS_SET = 0x1f80,
		STICKY = 0x3f
	};
	struct value v = read_operand(in, insn, 0);
	uint32_t mxcsr = v.v;

	in->fp_exact =
		!v.taint && (mxcsr & MASKS_SET) == MASKS_SET && !(mxcsr >> 16);
	if (!in->fp_exact)
		return STEP_NEXT;
	in->mxcsr = mxcsr;
	__asm__ volatile("ldmxcsr %0" : : "m"(mxcsr) : "memory");
	return STEP_NEXT;
}
