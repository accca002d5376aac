/* SPDX-License-Identifier: MIT */
/*
 * shuffle - instructions that rearrange elements within a lane
 */
#include <string.h>

#include "shuffle.h"
#include "permute.h"
#include "vector.h"

#include "src/base/signal_safe.h"

static unsigned result_bytes(const struct insn *insn)
{
	return insn->vector_bytes ? insn->vector_bytes : LANE_BYTES;
}

static int first_source(const struct insn *insn)
{
	return insn->flags & INSN_VEX ? 1 : 0;
}

static void shuffle_one(const struct insn *insn, union lane *to,
			const union lane *from, unsigned lane)
{
	unsigned imm = insn->imm & 0xff;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_PSHUFLW:
	case ZYDIS_MNEMONIC_VPSHUFLW:
		to->q[1] = from->q[1];
		for (unsigned i = 0; i < 4; i++)
			to->h[i] = from->h[imm >> (2 * i) & 3];
		break;
	case ZYDIS_MNEMONIC_PSHUFHW:
	case ZYDIS_MNEMONIC_VPSHUFHW:
		to->q[0] = from->q[0];
		for (unsigned i = 0; i < 4; i++)
			to->h[4 + i] = from->h[4 + (imm >> (2 * i) & 3)];
		break;
	case ZYDIS_MNEMONIC_VPERMILPD:
		to->q[0] = from->q[imm >> (2 * lane) & 1];
		to->q[1] = from->q[imm >> (2 * lane + 1) & 1];
		break;
	default: /* pshufd, vpermilps */
		for (unsigned i = 0; i < 4; i++)
			to->w[i] = from->w[imm >> (2 * i) & 3];
	}
}

/* pshufd pshuflw pshufhw, vpermilps and vpermilpd by immediate */
enum step step_shuffle_one(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn);
	struct vec from, to;

	if (insn->op[2].kind != OPERAND_IMM)
		return step_permute(in, insn);
	vec_read(in, insn, 1, &from);
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++) {
		shuffle_one(insn, &to.lane[i], &from.lane[i], i);
		to.taint[i] = from.taint[i];
	}
	return vec_write(in, insn, 0, &to, bytes);
}

static void align_right(union lane *to, const union lane *high,
			const union lane *low, unsigned by)
{
	uint8_t both[48] = { 0 };

	memcpy(both, low, 16);
	memcpy(both + 16, high, 16);
	memset(to, 0, sizeof(*to));
	if (by < 32)
		memcpy(to, both + by, 16);
}

static void shuffle_two(const struct insn *insn, union lane *to,
			const union lane *a, const union lane *b, unsigned lane)
{
	unsigned imm = insn->imm & 0xff;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_SHUFPS:
	case ZYDIS_MNEMONIC_VSHUFPS:
		to->w[0] = a->w[imm & 3];
		to->w[1] = a->w[imm >> 2 & 3];
		to->w[2] = b->w[imm >> 4 & 3];
		to->w[3] = b->w[imm >> 6 & 3];
		break;
	case ZYDIS_MNEMONIC_SHUFPD:
	case ZYDIS_MNEMONIC_VSHUFPD:
		to->q[0] = a->q[imm >> (2 * lane) & 1];
		to->q[1] = b->q[imm >> (2 * lane + 1) & 1];
		break;
	case ZYDIS_MNEMONIC_PALIGNR:
	case ZYDIS_MNEMONIC_VPALIGNR:
		align_right(to, a, b, imm);
		break;
	case ZYDIS_MNEMONIC_PBLENDW:
	case ZYDIS_MNEMONIC_VPBLENDW:
		for (unsigned i = 0; i < 8; i++)
			to->h[i] = imm >> i & 1 ? b->h[i] : a->h[i];
		break;
	case ZYDIS_MNEMONIC_BLENDPD:
	case ZYDIS_MNEMONIC_VBLENDPD:
		for (unsigned i = 0; i < 2; i++)
			to->q[i] =
				imm >> (2 * lane + i) & 1 ? b->q[i] : a->q[i];
		break;
	case ZYDIS_MNEMONIC_INSERTPS:
	case ZYDIS_MNEMONIC_VINSERTPS:
		*to = *a;
		to->w[imm >> 4 & 3] =
			b->w[insn->op[insn->operands - 2].kind == OPERAND_MEM
				     ? 0
				     : imm >> 6];
		for (unsigned i = 0; i < 4; i++)
			if (imm >> i & 1)
				to->w[i] = 0;
		break;
	default: /* blendps, vpblendd */
		for (unsigned i = 0; i < 4; i++)
			to->w[i] =
				imm >> (4 * lane + i) & 1 ? b->w[i] : a->w[i];
	}
}

/* shufps shufpd palignr pblendw blendps blendpd vpblendd insertps */
enum step step_shuffle_two(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn);
	int first = first_source(insn);
	struct vec a, b, to;

	vec_read(in, insn, first, &a);
	vec_read(in, insn, first + 1, &b);
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++) {
		shuffle_two(insn, &to.lane[i], &a.lane[i], &b.lane[i], i);
		to.taint[i] = a.taint[i] | b.taint[i];
	}
	return vec_write(in, insn, 0, &to, bytes);
}

/* pslldq psrldq */
enum step step_shift_bytes(struct interp *in, const struct insn *insn)
{
	bool left = insn->mnemonic == ZYDIS_MNEMONIC_PSLLDQ ||
		    insn->mnemonic == ZYDIS_MNEMONIC_VPSLLDQ;
	unsigned bytes = result_bytes(insn);
	unsigned by = (insn->imm & 0xff) > 16 ? 16 : insn->imm & 0xff;
	static const union lane zero;
	struct vec v;

	vec_read(in, insn, first_source(insn), &v);
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++) {
		union lane from = v.lane[i];

		if (left)
			align_right(&v.lane[i], &from, &zero, 16 - by);
		else
			align_right(&v.lane[i], &zero, &from, by);
	}
	return vec_write(in, insn, 0, &v, bytes);
}

/* pblendvb blendvps blendvpd: by the top bits of a third vector */
enum step step_blend_variable(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn), size = 4;
	int first = first_source(insn);
	struct vec a, b, mask;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_PBLENDVB:
	case ZYDIS_MNEMONIC_VPBLENDVB:
		size = 1;
		break;
	case ZYDIS_MNEMONIC_BLENDVPD:
	case ZYDIS_MNEMONIC_VBLENDVPD:
		size = 8;
	}
	vec_read(in, insn, first, &a);
	vec_read(in, insn, first + 1, &b);
	if (insn->flags & INSN_VEX) {
		vec_read(in, insn, first + 2, &mask);
	} else {
		/* xmm0, which is not among the operands */
		mask.lane[0] = vec_lanes(in, 0)[0];
		mask.taint[0] = in->vec_taint[0][0];
	}
	for (unsigned i = 0; i * size < bytes; i++)
		if (mask.bytes[(i + 1) * size - 1] & 0x80)
			memcpy(a.bytes + i * size, b.bytes + i * size, size);
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++)
		a.taint[i] |= b.taint[i] | mask.taint[i];
	return vec_write(in, insn, 0, &a, bytes);
}

/* vpternlog: any function of three bits */
enum step step_ternary(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn), imm = insn->imm & 0xff;
	struct vec a, b, c;

	vec_read(in, insn, 0, &a);
	vec_read(in, insn, 1, &b);
	vec_read(in, insn, 2, &c);
	for (unsigned i = 0; i * 8 < bytes; i++) {
		uint64_t x = a.lane[i / 2].q[i % 2], y = b.lane[i / 2].q[i % 2];
		uint64_t z = c.lane[i / 2].q[i % 2], r = 0;

		for (unsigned k = 0; k < 8; k++)
			if (imm >> k & 1)
				r |= (k & 4 ? x : ~x) & (k & 2 ? y : ~y) &
				     (k & 1 ? z : ~z);
		a.lane[i / 2].q[i % 2] = r;
	}
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++) {
		a.taint[i] |= b.taint[i] | c.taint[i];
		if (imm == 0 || imm == 0xff)
			a.taint[i] = 0;
	}
	return vec_write(in, insn, 0, &a, bytes);
}
