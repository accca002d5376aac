/* SPDX-License-Identifier: MIT */
/*
 * convert - from what Zydis decoded to struct insn
 */
#ifndef COMDET_X86_DECODE_CONVERT_H
#define COMDET_X86_DECODE_CONVERT_H

#include <Zydis/Zydis.h>
#undef assert /* Zycore brings it; handlers must not use it */

#include "insn.h"

/* Fill @out (zeroed, ip and bytes set) from what Zydis decoded. */
void decode_convert(const ZydisDecodedInstruction *z,
		    const ZydisDecodedOperand *operands, struct insn *out);

/* Fill @out from what Zydis decoded without the operands. */
void convert_shape(const ZydisDecodedInstruction *z, uint64_t ip,
		   struct insn_shape *out);

#endif
