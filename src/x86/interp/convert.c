/* SPDX-License-Identifier: MIT */
/*
 * convert - scalar floating point to and from general registers,
 * comparisons, rounding
 *
 * All of it runs with the program's MXCSR loaded (see interp_run). Where
 * rounding and special cases must be exactly the processor's, the instruction
 * itself is executed.
 */
#include <string.h>

#include "convert.h"
#include "flags.h"
#include "mask.h"
#include "operand.h"
#include "vector.h"

#include "src/base/signal_safe.h"

typedef long long lane_word __attribute__((vector_size(16), may_alias));

/* cvtsi2ss, cvtsi2sd */
enum step step_from_integer(struct interp *in, const struct insn *insn)
{
	bool to_double = insn->mnemonic == ZYDIS_MNEMONIC_CVTSI2SD ||
			 insn->mnemonic == ZYDIS_MNEMONIC_VCVTSI2SD;
	int last = insn->operands - 1;
	struct value x = read_operand(in, insn, last);
	bool wide = insn->op[last].bytes == 8;
	lane_word w;
	struct vec v;

	if (!float_exact(in, insn) || insn->op[last].kind == OPERAND_OTHER)
		return step_unknown(in, insn);
	vec_read(in, insn, insn->flags & INSN_VEX ? 1 : 0, &v);
	memcpy(&w, &v.lane[0], sizeof(w));
	if (to_double && wide)
		__asm__("cvtsi2sdq %1, %0" : "+x"(w) : "r"(x.v));
	else if (to_double)
		__asm__("cvtsi2sdl %1, %0" : "+x"(w) : "r"((uint32_t)x.v));
	else if (wide)
		__asm__("cvtsi2ssq %1, %0" : "+x"(w) : "r"(x.v));
	else
		__asm__("cvtsi2ssl %1, %0" : "+x"(w) : "r"((uint32_t)x.v));
	memcpy(&v.lane[0], &w, sizeof(w));
	v.taint[0] |= x.taint;
	return vec_write(in, insn, 0, &v, LANE_BYTES);
}

/* cvt(t)ss2si, cvt(t)sd2si */
enum step step_to_integer(struct interp *in, const struct insn *insn)
{
	struct value r = { 0, 0 };
	struct vec v;
	lane_word w;

	if (!float_exact(in, insn))
		return step_unknown(in, insn);
	vec_read(in, insn, 1, &v);
	memcpy(&w, &v.lane[0], sizeof(w));
	r.taint = v.taint[0];
/* A 32-bit result is zero-extended. */
#define CONVERT(name)                                                          \
	do {                                                                   \
		if (insn->op[0].bytes == 8)                                    \
			__asm__(#name " %1, %q0" : "=r"(r.v) : "x"(w));        \
		else                                                           \
			__asm__(#name " %1, %k0" : "=r"(r.v) : "x"(w));        \
	} while (0)
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_CVTSS2SI:
	case ZYDIS_MNEMONIC_VCVTSS2SI:
		CONVERT(cvtss2si);
		break;
	case ZYDIS_MNEMONIC_CVTTSS2SI:
	case ZYDIS_MNEMONIC_VCVTTSS2SI:
		CONVERT(cvttss2si);
		break;
	case ZYDIS_MNEMONIC_CVTSD2SI:
	case ZYDIS_MNEMONIC_VCVTSD2SI:
		CONVERT(cvtsd2si);
		break;
	default:
		CONVERT(cvttsd2si);
	}
	return write_operand(in, insn, 0, r);
}

static uint32_t relation_flags(double a, double b)
{
	if (a != a || b != b)
		return FLAG_ZF | FLAG_PF | FLAG_CF;
	if (a < b)
		return FLAG_CF;
	return a == b ? FLAG_ZF : 0;
}

/* Element @i as a double: exact, except for denormals under DAZ. */
static double element(const struct vec *v, unsigned i, unsigned size)
{
	if (size == 8)
		return v->lane[i / 2].d[i % 2];
	return v->lane[i / 4].f[i % 4];
}

/* (u)comiss, (u)comisd */
enum step step_float_compare(struct interp *in, const struct insn *insn)
{
	unsigned size = 8;
	struct vec a, b;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_COMISS:
	case ZYDIS_MNEMONIC_UCOMISS:
	case ZYDIS_MNEMONIC_VCOMISS:
	case ZYDIS_MNEMONIC_VUCOMISS:
		size = 4;
	}
	if (!in->fp_exact) /* {sae} changes nothing here */
		return step_unknown(in, insn);
	vec_read(in, insn, 0, &a);
	vec_read(in, insn, 1, &b);
	set_flags(in, FLAGS_ALL, 0,
		  relation_flags(element(&a, 0, size), element(&b, 0, size)),
		  a.taint[0] | b.taint[0]);
	return STEP_NEXT;
}

/* The 32 predicates of cmpps; the upper 16 differ only in what they signal. */
static bool float_predicate(unsigned imm, double a, double b)
{
	bool unordered = a != a || b != b, r;

	switch (imm & 7) {
	case 0: /* equal */
		r = imm & 8 ? unordered || a == b : a == b;
		return r;
	case 1: /* less; with 8: not greater or equal */
		return imm & 8 ? !(a >= b) : a < b;
	case 2: /* less or equal; with 8: not greater */
		return imm & 8 ? !(a > b) : a <= b;
	case 3: /* unordered; with 8: false */
		return imm & 8 ? false : unordered;
	case 4: /* not equal; with 8: and ordered */
		return imm & 8 ? !unordered && a != b : !(a == b);
	case 5: /* not less; with 8: greater or equal */
		return imm & 8 ? a >= b : !(a < b);
	case 6: /* not less or equal; with 8: greater */
		return imm & 8 ? a > b : !(a <= b);
	default: /* ordered; with 8: true */
		return imm & 8 ? true : !unordered;
	}
}

/* cmpps cmppd cmpss cmpsd: into a vector, or with EVEX into a mask */
enum step step_float_predicate(struct interp *in, const struct insn *insn)
{
	int first =
		insn->operands == 4 || insn->op[0].kind == OPERAND_MASK ? 1 : 0;
	bool scalar = insn->mnemonic == ZYDIS_MNEMONIC_CMPSS ||
		      insn->mnemonic == ZYDIS_MNEMONIC_CMPSD ||
		      insn->mnemonic == ZYDIS_MNEMONIC_VCMPSS ||
		      insn->mnemonic == ZYDIS_MNEMONIC_VCMPSD;
	bool is_double = insn->mnemonic == ZYDIS_MNEMONIC_CMPPD ||
			 insn->mnemonic == ZYDIS_MNEMONIC_CMPSD ||
			 insn->mnemonic == ZYDIS_MNEMONIC_VCMPPD ||
			 insn->mnemonic == ZYDIS_MNEMONIC_VCMPSD;
	unsigned size = is_double ? 8 : 4;
	unsigned bytes = insn->vector_bytes ? insn->vector_bytes : LANE_BYTES;
	uint64_t bits = 0;
	struct vec a, b;

	if (scalar)
		bytes = size;
	if (!in->fp_exact)
		return step_unknown(in, insn);
	vec_read(in, insn, first, &a);
	vec_read(in, insn, first + 1, &b);
	for (unsigned i = 0; i * size < bytes; i++)
		if (float_predicate(insn->imm, element(&a, i, size),
				    element(&b, i, size)))
			bits |= 1ull << i;
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++)
		a.taint[i] |= b.taint[i];
	if (insn->op[0].kind == OPERAND_MASK) {
		for (unsigned i = 1; i * LANE_BYTES < bytes; i++)
			a.taint[0] |= a.taint[i];
		return mask_result(in, insn, bits, a.taint[0]);
	}
	for (unsigned i = 0; i * size < bytes; i++)
		memset(a.bytes + i * size, bits >> i & 1 ? 0xff : 0, size);
	return vec_write(in, insn, 0, &a, scalar ? LANE_BYTES : bytes);
}

#define ROUND(name, mode)                                                      \
	case mode:                                                             \
		__asm__(#name " $" #mode ", %1, %0"                            \
			: "+x"(d)                                              \
			: "x"(*(const lane_word *)b));                         \
		break;
#define ROUNDER(name)                                                          \
	static void name##_lane(union lane *a, const union lane *b,            \
				unsigned mode)                                 \
	{                                                                      \
		lane_word d = *(const lane_word *)a;                           \
                                                                               \
		switch (mode & 7) {                                            \
			ROUND(name, 0)                                         \
			ROUND(name, 1)                                         \
			ROUND(name, 2)                                         \
			ROUND(name, 3)                                         \
		default:                                                       \
			__asm__(#name " $4, %1, %0"                            \
				: "+x"(d)                                      \
				: "x"(*(const lane_word *)b));                 \
		}                                                              \
		*(lane_word *)a = d;                                           \
	}

ROUNDER(roundps)
ROUNDER(roundpd)
ROUNDER(roundss)
ROUNDER(roundsd)

enum step step_round(struct interp *in, const struct insn *insn)
{
	unsigned bytes = insn->vector_bytes ? insn->vector_bytes : LANE_BYTES;
	bool vex = insn->flags & INSN_VEX;
	struct vec a, b;

	if (!in->fp_exact)
		return step_unknown(in, insn);
	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_ROUNDSS:
	case ZYDIS_MNEMONIC_VROUNDSS:
	case ZYDIS_MNEMONIC_ROUNDSD:
	case ZYDIS_MNEMONIC_VROUNDSD:
		vec_read(in, insn, vex ? 1 : 0, &a);
		vec_read(in, insn, vex ? 2 : 1, &b);
		if (insn->mnemonic == ZYDIS_MNEMONIC_ROUNDSS ||
		    insn->mnemonic == ZYDIS_MNEMONIC_VROUNDSS)
			roundss_lane(&a.lane[0], &b.lane[0], insn->imm);
		else
			roundsd_lane(&a.lane[0], &b.lane[0], insn->imm);
		a.taint[0] |= b.taint[0];
		return vec_write(in, insn, 0, &a, LANE_BYTES);
	}
	vec_read(in, insn, 1, &a);
	for (unsigned i = 0; i * LANE_BYTES < bytes; i++) {
		b.lane[0] = a.lane[i];
		if (insn->mnemonic == ZYDIS_MNEMONIC_ROUNDPS ||
		    insn->mnemonic == ZYDIS_MNEMONIC_VROUNDPS)
			roundps_lane(&a.lane[i], &b.lane[0], insn->imm);
		else
			roundpd_lane(&a.lane[i], &b.lane[0], insn->imm);
	}
	return vec_write(in, insn, 0, &a, bytes);
}

/*
 * x87 and MMX: only the control word is tracked, which C code saves, changes
 * and restores around conversions.
 */
enum step step_x87(struct interp *in, const struct insn *insn)
{
	enum {
		CONTROL_INITIAL = 0x37f
	};

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_FNSTCW:
		return write_operand(in, insn, 0, in->x87_control);
	case ZYDIS_MNEMONIC_FLDCW:
		in->x87_control = read_operand(in, insn, 0);
		in->x87_control.v |= 0x40; /* this bit is always set */
		return STEP_NEXT;
	case ZYDIS_MNEMONIC_FNINIT:
		in->x87_control = (struct value){ CONTROL_INITIAL, 0 };
		break;
	case ZYDIS_MNEMONIC_FLDENV:
	case ZYDIS_MNEMONIC_FNSTENV:
	case ZYDIS_MNEMONIC_FNSAVE:
	case ZYDIS_MNEMONIC_FRSTOR:
		in->x87_control.taint = TAINT_UNKNOWN;
	}
	return step_unknown(in, insn);
}

/* fxrstor, xrstor: vectors, masks and MXCSR from memory */
enum step step_restore(struct interp *in, const struct insn *insn)
{
	in->fp_exact = false;
	in->x87_control.taint = TAINT_UNKNOWN;
	return step_unknown(in, insn);
}
