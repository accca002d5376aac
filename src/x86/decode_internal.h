/* SPDX-License-Identifier: MIT */
/*
 * decode_internal - between the files of the decoder
 */
#ifndef COMDET_X86_DECODE_INTERNAL_H
#define COMDET_X86_DECODE_INTERNAL_H

#include <Zydis/Zydis.h>
#undef assert /* Zycore brings it; handlers must not use it */

#include "decode.h"

/* Fill @out (zeroed, ip and bytes set) from what Zydis decoded. */
void decode_convert(const ZydisDecodedInstruction *z,
		    const ZydisDecodedOperand *operands, struct insn *out);

/* The parts of decode_convert that are in decode_mask.c. */
void decode_convert_mask(const ZydisDecodedInstruction *z,
			 const ZydisDecodedOperand *operands, struct insn *out);
void decode_convert_gather(ZydisMnemonic mnemonic, struct insn *out);
bool decode_is_vector(ZydisRegister r);

/* Bytes that xsave writes in its standard format, all components asked. */
uint16_t decode_xsave_bytes(void);

#endif
