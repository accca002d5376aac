/* SPDX-License-Identifier: MIT */
/*
 * fma - fused multiply-add, carried out by the processor itself
 *
 * Each form has its own stub, because they differ in which operand's NaN they
 * return if there are several.
 */
#include <stddef.h>

#include "fma.h"
#include "operand.h"
#include "vector.h"

#include "src/base/signal_safe.h"

typedef long long lane_word __attribute__((vector_size(16), may_alias));
typedef void fma_fn(union lane *d, const union lane *b, const union lane *c);

/* clang-format off */
#define FORMS(X, op, type) \
	X(VF##op##132##type) X(VF##op##213##type) X(VF##op##231##type)
#define TYPES(X, op) \
	FORMS(X, op, PS) FORMS(X, op, PD) FORMS(X, op, SS) FORMS(X, op, SD)
#define FMA(X) \
	TYPES(X, MADD) TYPES(X, MSUB) TYPES(X, NMADD) TYPES(X, NMSUB) \
	FORMS(X, MADDSUB, PS) FORMS(X, MADDSUB, PD) \
	FORMS(X, MSUBADD, PS) FORMS(X, MSUBADD, PD)
/* clang-format on */

#define STUB(mnemonic)                                                         \
	static void lane_##mnemonic(union lane *d, const union lane *b,        \
				    const union lane *c)                       \
	{                                                                      \
		lane_word x = *(const lane_word *)d;                           \
                                                                               \
		__asm__(#mnemonic " %2, %1, %0"                                \
			: "+x"(x)                                              \
			: "x"(*(const lane_word *)b),                          \
			  "x"(*(const lane_word *)c));                         \
		*(lane_word *)d = x;                                           \
	}

FMA(STUB)

static fma_fn *fma_stub(uint16_t mnemonic)
{
#define CHOOSE(name)                                                           \
	case ZYDIS_MNEMONIC_##name:                                            \
		return lane_##name;
	switch (mnemonic) {
		FMA(CHOOSE)
	default:
		return NULL;
	}
}

static bool is_scalar(uint16_t mnemonic)
{
#define SCALAR(name)     case ZYDIS_MNEMONIC_##name:
#define SCALAR_FORMS(op) FORMS(SCALAR, op, SS) FORMS(SCALAR, op, SD)
	switch (mnemonic) {
		SCALAR_FORMS(MADD)
		SCALAR_FORMS(MSUB)
		SCALAR_FORMS(NMADD)
		SCALAR_FORMS(NMSUB)
		return true;
	default:
		return false;
	}
}

bool is_fma(const struct insn *insn)
{
	return fma_stub(insn->mnemonic);
}

enum step step_fma(struct interp *in, const struct insn *insn)
{
	bool scalar = is_scalar(insn->mnemonic);
	unsigned bytes = scalar ? LANE_BYTES : insn->vector_bytes;
	fma_fn *fn = fma_stub(insn->mnemonic);
	struct vec a, b, c;

	if (!float_exact(in, insn) || (scalar && insn->write_mask))
		return step_unknown(in, insn);
	vec_read(in, insn, 0, &a);
	vec_read(in, insn, 1, &b);
	vec_read(in, insn, 2, &c);
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++) {
		fn(&a.lane[i], &b.lane[i], &c.lane[i]);
		a.taint[i] |= b.taint[i] | c.taint[i];
	}
	return vec_write(in, insn, 0, &a, bytes);
}
