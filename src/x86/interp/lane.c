/* SPDX-License-Identifier: MIT */
/*
 * lane - vector arithmetic, carried out by the processor itself
 *
 * For each instruction in lane_list.h a stub executes it on one lane, with the
 * program's MXCSR loaded (see interp_run), so the result is exact down to NaN
 * payloads. Wider vectors are computed lane by lane, so the handler needs only
 * SSE for them. A stub whose instruction this processor lacks is never called,
 * because the program could not execute that instruction either.
 */
#include <string.h>

#include "lane.h"
#include "lane_list.h"
#include "mask.h"
#include "operand.h"
#include "vector.h"

#include "src/base/signal_safe.h"

typedef long long lane_word __attribute__((vector_size(16), may_alias));
typedef void lane_fn(union lane *d, const union lane *a, const union lane *b);

#define STUB(name)                                                             \
	static void lane_##name(union lane *d, const union lane *a,            \
				const union lane *b)                           \
	{                                                                      \
		lane_word x = *(const lane_word *)a;                           \
                                                                               \
		__asm__(#name " %1, %0"                                        \
			: "+x"(x)                                              \
			: "x"(*(const lane_word *)b));                         \
		*(lane_word *)d = x;                                           \
	}

#define STUB_OF(mnemonic, name)               STUB(name)
#define STUB_OF_WIDEN(mnemonic, name, factor) STUB(name)
LANE_INTEGER(STUB_OF)
LANE_FLOAT(STUB_OF)
LANE_SCALAR(STUB_OF)
LANE_UNARY(STUB_OF)
LANE_UNARY_FLOAT(STUB_OF)
LANE_SHIFT(STUB_OF)
LANE_WIDEN(STUB_OF_WIDEN)
LANE_NARROW(STUB_OF)

#define NUMBER(mnemonic, name)               STUB_##name,
#define NUMBER_WIDEN(mnemonic, name, factor) STUB_##name,

enum {
	STUB_none,
	LANE_INTEGER(NUMBER)
	LANE_FLOAT(NUMBER) LANE_SCALAR(NUMBER) LANE_UNARY(NUMBER)
		LANE_UNARY_FLOAT(NUMBER) LANE_SHIFT(NUMBER)
			LANE_WIDEN(NUMBER_WIDEN) LANE_NARROW(NUMBER) STUBS
};

_Static_assert(STUBS <= UINT8_MAX, "stub_of holds the number");

#define POINTER(mnemonic, name)               [STUB_##name] = lane_##name,
#define POINTER_WIDEN(mnemonic, name, factor) [STUB_##name] = lane_##name,

static lane_fn *const stubs[] = {
	LANE_INTEGER(POINTER) LANE_FLOAT(POINTER) LANE_SCALAR(POINTER)
		LANE_UNARY(POINTER) LANE_UNARY_FLOAT(POINTER)
			LANE_SHIFT(POINTER) LANE_WIDEN(POINTER_WIDEN)
				LANE_NARROW(POINTER)
};

#define BOTH(mnemonic, name)                                                   \
	[ZYDIS_MNEMONIC_##mnemonic] = STUB_##name,                             \
	[ZYDIS_MNEMONIC_V##mnemonic] = STUB_##name,
#define BOTH_WIDEN(mnemonic, name, factor) BOTH(mnemonic, name)
#define ALONE(mnemonic, name)              [ZYDIS_MNEMONIC_##mnemonic] = STUB_##name,

static const uint8_t stub_of[ZYDIS_MNEMONIC_MAX_VALUE + 1] = {
	LANE_INTEGER(BOTH) LANE_INTEGER_EVEX(ALONE) LANE_FLOAT(BOTH)
		LANE_SCALAR(BOTH) LANE_UNARY(BOTH) LANE_UNARY_FLOAT(BOTH)
			LANE_SHIFT(BOTH) LANE_WIDEN(BOTH_WIDEN)
				LANE_NARROW(BOTH)
};

static lane_fn *stub(const struct insn *insn)
{
	return stubs[stub_of[insn->mnemonic]];
}

static unsigned result_bytes(const struct insn *insn)
{
	return insn->vector_bytes ? insn->vector_bytes : LANE_BYTES;
}

/* The first source of an SSE instruction is its destination. */
static int first_source(const struct insn *insn)
{
	return insn->flags & INSN_VEX ? 1 : 0;
}

/* x ^ x, x - x and x == x do not depend on x. */
static bool is_constant(const struct insn *insn)
{
	const struct operand *a = &insn->op[first_source(insn)];
	const struct operand *b = a + 1;

	if (a->kind != OPERAND_VEC || b->kind != OPERAND_VEC ||
	    a->reg != b->reg)
		return false;
	switch (stub_of[insn->mnemonic]) {
	case STUB_pxor:
	case STUB_xorps:
	case STUB_xorpd:
	case STUB_pandn:
	case STUB_andnps:
	case STUB_andnpd:
	case STUB_psubb:
	case STUB_psubw:
	case STUB_psubd:
	case STUB_psubq:
	case STUB_pcmpeqb:
	case STUB_pcmpeqw:
	case STUB_pcmpeqd:
	case STUB_pcmpeqq:
	case STUB_pcmpgtb:
	case STUB_pcmpgtw:
	case STUB_pcmpgtd:
	case STUB_pcmpgtq:
		return true;
	default:
		return false;
	}
}

enum step step_lane(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn);
	int first = first_source(insn);
	lane_fn *fn = stub(insn);
	struct vec a, b;

	if (insn->op[0].kind == OPERAND_MASK)
		return step_mask_compare(in, insn);
	vec_read(in, insn, first, &a);
	vec_read(in, insn, first + 1, &b);
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++) {
		fn(&a.lane[i], &a.lane[i], &b.lane[i]);
		a.taint[i] |= b.taint[i];
		if (is_constant(insn))
			a.taint[i] = 0;
	}
	return vec_write(in, insn, 0, &a, bytes);
}

enum step step_lane_float(struct interp *in, const struct insn *insn)
{
	if (!float_exact(in, insn))
		return step_unknown(in, insn);
	return step_lane(in, insn);
}

enum step step_scalar(struct interp *in, const struct insn *insn)
{
	int first = first_source(insn);
	struct vec a, b;

	if (!float_exact(in, insn) || insn->write_mask)
		return step_unknown(in, insn);
	vec_read(in, insn, first, &a);
	vec_read(in, insn, first + 1, &b);
	stub(insn)(&a.lane[0], &a.lane[0], &b.lane[0]);
	a.taint[0] |= b.taint[0];
	return vec_write(in, insn, 0, &a, LANE_BYTES);
}

enum step step_unary(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn);
	lane_fn *fn = stub(insn);
	struct vec a;

	vec_read(in, insn, 1, &a);
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++)
		fn(&a.lane[i], &a.lane[i], &a.lane[i]);
	return vec_write(in, insn, 0, &a, bytes);
}

enum step step_unary_float(struct interp *in, const struct insn *insn)
{
	if (!float_exact(in, insn))
		return step_unknown(in, insn);
	return step_unary(in, insn);
}

enum step step_lane_shift(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn);
	int first = first_source(insn);
	lane_fn *fn = stub(insn);
	struct vec a, count;

	vec_read(in, insn, first, &a);
	if (insn->op[first + 1].kind == OPERAND_IMM) {
		count.lane[0].q[0] = (uint8_t)insn->imm;
		count.lane[0].q[1] = 0;
		count.taint[0] = 0;
	} else {
		vec_read(in, insn, first + 1, &count);
	}
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++) {
		fn(&a.lane[i], &a.lane[i], &count.lane[0]);
		a.taint[i] |= count.taint[0];
	}
	return vec_write(in, insn, 0, &a, bytes);
}

static unsigned widen_factor(const struct insn *insn)
{
#define FACTOR(mnemonic, name, factor)                                         \
	case STUB_##name:                                                      \
		return factor;
	switch (stub_of[insn->mnemonic]) {
		LANE_WIDEN(FACTOR)
	default:
		return 1;
	}
}

enum step step_lane_widen(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn), factor = widen_factor(insn);
	unsigned part = LANE_BYTES / factor;
	lane_fn *fn = stub(insn);
	struct vec from, to;
	union lane source;

	if (insn->mnemonic == ZYDIS_MNEMONIC_CVTPS2PD ||
	    insn->mnemonic == ZYDIS_MNEMONIC_VCVTPS2PD)
		if (!float_exact(in, insn))
			return step_unknown(in, insn);
	vec_read(in, insn, 1, &from);
	memset(&source, 0, sizeof(source));
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++) {
		memcpy(&source, from.bytes + i * part, part);
		fn(&to.lane[i], &source, &source);
		to.taint[i] = from.taint[i * part / LANE_BYTES];
	}
	return vec_write(in, insn, 0, &to, bytes);
}

enum step step_lane_narrow(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn);
	lane_fn *fn = stub(insn);
	struct vec from, to;
	union lane part;

	if (!float_exact(in, insn) || insn->write_mask)
		return step_unknown(in, insn);
	vec_read(in, insn, 1, &from);
	memset(&to, 0, sizeof(to));
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++) {
		fn(&part, &from.lane[i], &from.lane[i]);
		to.lane[i / 2].q[i % 2] = part.q[0];
		to.taint[i / 2] |= from.taint[i];
	}
	return vec_write(in, insn, 0, &to, bytes > 32 ? 32 : LANE_BYTES);
}

/* vpsllv, vpsrlv, vpsrav: a count for each element */
enum step step_lane_shift_each(struct interp *in, const struct insn *insn)
{
	unsigned bytes = result_bytes(insn), size = insn->op[0].bytes;
	struct vec a, count;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_VPSLLVQ:
	case ZYDIS_MNEMONIC_VPSRLVQ:
		size = 8;
		break;
	default:
		size = 4;
	}
	vec_read(in, insn, 1, &a);
	vec_read(in, insn, 2, &count);
	for (unsigned i = 0; i * size < bytes; i++) {
		union lane *to = &a.lane[i * size / LANE_BYTES];
		unsigned e = i % (LANE_BYTES / size);
		uint64_t n = size == 8 ? count.lane[i / 2].q[e]
				       : count.lane[i / 4].w[e];

		switch (insn->mnemonic) {
		case ZYDIS_MNEMONIC_VPSLLVQ:
			to->q[e] = n < 64 ? to->q[e] << n : 0;
			break;
		case ZYDIS_MNEMONIC_VPSRLVQ:
			to->q[e] = n < 64 ? to->q[e] >> n : 0;
			break;
		case ZYDIS_MNEMONIC_VPSLLVD:
			to->w[e] = n < 32 ? to->w[e] << n : 0;
			break;
		case ZYDIS_MNEMONIC_VPSRLVD:
			to->w[e] = n < 32 ? to->w[e] >> n : 0;
			break;
		default: /* vpsravd */
			to->w[e] = (uint32_t)((int32_t)to->w[e] >>
					      (n < 32 ? n : 31));
		}
	}
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++)
		a.taint[i] |= count.taint[i];
	return vec_write(in, insn, 0, &a, bytes);
}
