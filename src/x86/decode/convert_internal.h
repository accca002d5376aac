/* SPDX-License-Identifier: MIT */
/*
 * convert_internal - what convert.c and convert_mask.c share
 */
#ifndef COMDET_X86_DECODE_CONVERT_INTERNAL_H
#define COMDET_X86_DECODE_CONVERT_INTERNAL_H

#include "convert.h"

/*
 * Elements of a vector or memory operand, and whether the write mask
 * suppresses accesses.
 */
void convert_mask(const ZydisDecodedInstruction *z,
		  const ZydisDecodedOperand *operands, struct insn *out);

/* The elements of a gather or scatter; its prefetches make no access. */
void convert_gather(ZydisMnemonic mnemonic, struct insn *out);

static inline bool register_in(ZydisRegister r, ZydisRegister first, unsigned n)
{
	return r >= first && r < first + n;
}

/* The number of a vector register of any width, or NO_REG. */
static inline uint8_t vector_number(ZydisRegister r)
{
	if (register_in(r, ZYDIS_REGISTER_XMM0, 32))
		return r - ZYDIS_REGISTER_XMM0;
	if (register_in(r, ZYDIS_REGISTER_YMM0, 32))
		return r - ZYDIS_REGISTER_YMM0;
	if (register_in(r, ZYDIS_REGISTER_ZMM0, 32))
		return r - ZYDIS_REGISTER_ZMM0;
	return NO_REG;
}

#endif
