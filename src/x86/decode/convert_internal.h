/* SPDX-License-Identifier: MIT */
/*
 * convert_internal - what convert.c and convert_mask.c share
 */
#ifndef COMDET_X86_DECODE_CONVERT_INTERNAL_H
#define COMDET_X86_DECODE_CONVERT_INTERNAL_H

#include "convert.h"

/*
 * Fill in the size and number of elements of a vector or memory operand, and
 * MEM_MASKED if the write mask suppresses accesses.
 */
void convert_mask(const ZydisDecodedInstruction *z,
		  const ZydisDecodedOperand *operands, struct insn *out);

/* Fill in the elements of a gather or scatter. Their prefetches access none. */
void convert_gather(ZydisMnemonic mnemonic, struct insn *out);

static inline bool register_in(ZydisRegister r, ZydisRegister first, unsigned n)
{
	return r >= first && r < first + n;
}

/* Return the number of a vector register of any width, or NO_REG. */
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
