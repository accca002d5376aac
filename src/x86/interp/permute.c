/* SPDX-License-Identifier: MIT */
/*
 * permute - instructions that move elements across lanes
 */
#include <string.h>

#include "permute.h"
#include "operand.h"
#include "vector.h"

#include "src/base/signal_safe.h"

static uint64_t all_taints(const struct vec *v, unsigned bytes)
{
	uint64_t taint = 0;

	for (unsigned i = 0; i * LANE_BYTES < bytes; i++)
		taint |= v->taint[i];
	return taint;
}

static void taint_all(struct vec *v, uint64_t taint)
{
	for (unsigned i = 0; i < LANES; i++)
		v->taint[i] = taint;
}

/* vbroadcast and vpbroadcast, from memory, a vector or a general register */
enum step step_broadcast(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->vector_bytes, size;
	const struct operand *op = &insn->op[1];
	struct value x;
	struct vec v;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_VPBROADCASTB:
		size = 1;
		break;
	case ZYDIS_MNEMONIC_VPBROADCASTW:
		size = 2;
		break;
	case ZYDIS_MNEMONIC_VPBROADCASTD:
	case ZYDIS_MNEMONIC_VBROADCASTSS:
		size = 4;
		break;
	case ZYDIS_MNEMONIC_VPBROADCASTQ:
	case ZYDIS_MNEMONIC_VBROADCASTSD:
	case ZYDIS_MNEMONIC_VBROADCASTF32X2:
	case ZYDIS_MNEMONIC_VBROADCASTI32X2:
		size = 8;
		break;
	default:
		size = op->bytes; /* 16 or 32 bytes, only from memory */
	}
	if (op->kind == OPERAND_GPR) {
		x = read_gpr(in, op);
		v.lane[0].q[0] = x.v;
		v.taint[0] = x.taint;
	} else {
		vec_read(in, insn, 1, &v);
	}
	taint_all(&v, size > LANE_BYTES ? v.taint[0] | v.taint[1] : v.taint[0]);
	for (unsigned at = size; at < bytes; at += size)
		memcpy(v.bytes + at, v.bytes, size);
	return vec_write(in, insn, 0, &v, bytes);
}

/* vextractf128 and the like */
enum step step_extract_lanes(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->op[0].bytes, lanes = bytes / LANE_BYTES;
	unsigned total = insn->vector_bytes / LANE_BYTES;
	unsigned from = lanes * (insn->imm % (total / lanes));
	struct vec v, part;

	vec_read(in, insn, 1, &v);
	for (unsigned i = 0; i < lanes; i++) {
		part.lane[i] = v.lane[from + i];
		part.taint[i] = v.taint[from + i];
	}
	return vec_write(in, insn, 0, &part, bytes);
}

enum step step_insert_lanes(struct interp *in, const struct insn *insn)
{
	unsigned lanes = insn->op[2].bytes / LANE_BYTES;
	unsigned total = insn->vector_bytes / LANE_BYTES;
	unsigned at = lanes * (insn->imm % (total / lanes));
	struct vec v, part;

	vec_read(in, insn, 1, &v);
	vec_read(in, insn, 2, &part);
	for (unsigned i = 0; i < lanes; i++) {
		v.lane[at + i] = part.lane[i];
		v.taint[at + i] = part.taint[i];
	}
	return vec_write(in, insn, 0, &v, insn->vector_bytes);
}

/* vperm2f128, vperm2i128 */
enum step step_permute_halves(struct interp *in, const struct insn *insn)
{
	struct vec a, b, to;

	vec_read(in, insn, 1, &a);
	vec_read(in, insn, 2, &b);
	for (unsigned i = 0; i < 2; i++) {
		unsigned control = insn->imm >> (4 * i);
		const struct vec *from = control & 2 ? &b : &a;

		to.lane[i] = from->lane[control & 1];
		to.taint[i] = from->taint[control & 1];
		if (control & 8) {
			memset(&to.lane[i], 0, LANE_BYTES);
			to.taint[i] = 0;
		}
	}
	return vec_write(in, insn, 0, &to, 32);
}

/* vshuff32x4 and the like: whole lanes of two sources */
enum step step_shuffle_lanes(struct interp *in, const struct insn *insn)
{
	unsigned lanes = insn->vector_bytes / LANE_BYTES;
	unsigned bits = lanes == 4 ? 2 : 1;
	struct vec a, b, to;

	vec_read(in, insn, 1, &a);
	vec_read(in, insn, 2, &b);
	for (unsigned i = 0; i < lanes; i++) {
		const struct vec *from = i < lanes / 2 ? &a : &b;
		unsigned k = insn->imm >> (bits * i) & (lanes - 1);

		to.lane[i] = from->lane[k];
		to.taint[i] = from->taint[k];
	}
	return vec_write(in, insn, 0, &to, insn->vector_bytes);
}

/* vpermq, vpermpd by immediate */
static enum step permute_quads(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->vector_bytes;
	struct vec from, to;

	vec_read(in, insn, 1, &from);
	for (unsigned i = 0; i * 8 < bytes; i++) {
		unsigned k = (i & ~3u) + (insn->imm >> (2 * (i & 3)) & 3);

		to.lane[i / 2].q[i % 2] = from.lane[k / 2].q[k % 2];
	}
	taint_all(&to, all_taints(&from, bytes));
	return vec_write(in, insn, 0, &to, bytes);
}

static uint64_t element(const struct vec *v, unsigned i, unsigned size)
{
	uint64_t x = 0;

	memcpy(&x, v->bytes + i * size, size);
	return x;
}

static unsigned permute_size(uint16_t mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_VPERMB:
	case ZYDIS_MNEMONIC_VPERMI2B:
	case ZYDIS_MNEMONIC_VPERMT2B:
		return 1;
	case ZYDIS_MNEMONIC_VPERMW:
	case ZYDIS_MNEMONIC_VPERMI2W:
	case ZYDIS_MNEMONIC_VPERMT2W:
		return 2;
	case ZYDIS_MNEMONIC_VPERMD:
	case ZYDIS_MNEMONIC_VPERMPS:
	case ZYDIS_MNEMONIC_VPERMILPS:
	case ZYDIS_MNEMONIC_VPERMI2D:
	case ZYDIS_MNEMONIC_VPERMI2PS:
	case ZYDIS_MNEMONIC_VPERMT2D:
	case ZYDIS_MNEMONIC_VPERMT2PS:
		return 4;
	default:
		return 8;
	}
}

/* vpermilps, vpermilpd by a vector within lanes; vpermd etc. across. */
enum step step_permute(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->vector_bytes;
	unsigned size = permute_size(insn->mnemonic), n = bytes / size;
	bool in_lane = insn->mnemonic == ZYDIS_MNEMONIC_VPERMILPS ||
		       insn->mnemonic == ZYDIS_MNEMONIC_VPERMILPD;
	struct vec index, from, to;

	if (insn->op[2].kind == OPERAND_IMM)
		return permute_quads(in, insn);
	vec_read(in, insn, in_lane ? 2 : 1, &index);
	vec_read(in, insn, in_lane ? 1 : 2, &from);
	for (unsigned i = 0; i < n; i++) {
		uint64_t k = element(&index, i, size);

		if (insn->mnemonic == ZYDIS_MNEMONIC_VPERMILPD)
			k = (i & ~1u) | (k >> 1 & 1);
		else if (in_lane)
			k = (i & ~3u) | (k & 3);
		memcpy(to.bytes + i * size, from.bytes + k % n * size, size);
	}
	taint_all(&to, all_taints(&index, bytes) | all_taints(&from, bytes));
	return vec_write(in, insn, 0, &to, bytes);
}

/* vpermi2 overwrites the index, vpermt2 the first table. */
enum step step_permute_two(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->vector_bytes;
	unsigned size = permute_size(insn->mnemonic), n = bytes / size;
	bool index_first = false;
	struct vec index, table, high, to;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_VPERMI2B:
	case ZYDIS_MNEMONIC_VPERMI2W:
	case ZYDIS_MNEMONIC_VPERMI2D:
	case ZYDIS_MNEMONIC_VPERMI2PS:
	case ZYDIS_MNEMONIC_VPERMI2Q:
	case ZYDIS_MNEMONIC_VPERMI2PD:
		index_first = true;
	}
	vec_read(in, insn, index_first ? 0 : 1, &index);
	vec_read(in, insn, index_first ? 1 : 0, &table);
	vec_read(in, insn, 2, &high);
	for (unsigned i = 0; i < n; i++) {
		uint64_t k = element(&index, i, size) % (2 * n);
		const struct vec *from = k < n ? &table : &high;

		memcpy(to.bytes + i * size, from->bytes + k % n * size, size);
	}
	taint_all(&to, all_taints(&index, bytes) | all_taints(&table, bytes) |
			       all_taints(&high, bytes));
	return vec_write(in, insn, 0, &to, bytes);
}

/* valignd, valignq */
enum step step_align_elements(struct interp *in, const struct insn *insn)
{
	unsigned size = insn->mnemonic == ZYDIS_MNEMONIC_VALIGND ? 4 : 8;
	unsigned bytes = insn->vector_bytes, n = bytes / size;
	unsigned by = insn->imm % n;
	struct vec high, low, to;

	vec_read(in, insn, 1, &high);
	vec_read(in, insn, 2, &low);
	for (unsigned i = 0; i < n; i++) {
		const struct vec *from = i + by < n ? &low : &high;

		memcpy(to.bytes + i * size, from->bytes + (i + by) % n * size,
		       size);
	}
	taint_all(&to, all_taints(&high, bytes) | all_taints(&low, bytes));
	return vec_write(in, insn, 0, &to, bytes);
}

/* vpblendm, vblendmps: the mask chooses the second source */
enum step step_blend_mask(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->vector_bytes, n = insn->mask_elements;
	uint64_t k =
		insn->write_mask ? *mask_value(in, insn->write_mask) : ~0ull;
	uint64_t k_taint =
		insn->write_mask ? in->mask_taint[insn->write_mask] : 0;
	unsigned size = bytes / n;
	struct insn plain = *insn;
	struct vec a, b;

	vec_read(in, insn, 1, &a);
	vec_read(in, insn, 2, &b);
	for (unsigned i = 0; i < n; i++) {
		uint8_t *to = a.bytes + i * size;

		if (k >> i & 1)
			memcpy(to, b.bytes + i * size, size);
		else if (insn->flags & INSN_ZEROING)
			memset(to, 0, size);
	}
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++)
		a.taint[i] |= b.taint[i] | k_taint;
	plain.write_mask = 0; /* the mask has been applied */
	return vec_write(in, &plain, 0, &a, bytes);
}
