/* SPDX-License-Identifier: MIT */
/*
 * convert_mask - masked operands, gathers and scatters
 *
 * Finds out whether a mask suppresses accesses, how many of its bits count,
 * and how wide the elements are.
 */
#include "convert_internal.h"

#include "src/base/signal_safe.h"

void convert_mask(const ZydisDecodedInstruction *z,
		  const ZydisDecodedOperand *operands, struct insn *out)
{
	const ZydisDecodedOperand *memory = NULL, *vector = NULL;

	for (int i = 0; i < z->operand_count; i++) {
		const ZydisDecodedOperand *o = &operands[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
			memory = o;
		else if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && !vector &&
			 vector_number(o->reg.value) != NO_REG)
			vector = o;
	}
	if (vector) {
		out->element_bytes = vector->element_size / 8;
		out->mask_elements = vector->element_count;
	}
	if (!memory || !out->mems)
		return;
	out->element_bytes = memory->element_size / 8;
	if (memory->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		out->mask_elements = memory->element_count;
	else if (z->avx.broadcast.mode == ZYDIS_BROADCAST_MODE_INVALID &&
		 memory->element_count == 1)
		out->mask_elements = 1;
	if (!out->write_mask || out->mem[0].kind != MEM_PLAIN)
		return;
	if (out->mem[0].rw & ACCESS_STORE) {
		out->mem[0].kind = MEM_MASKED;
		return;
	}
	switch (z->meta.exception_class) {
	case ZYDIS_EXCEPTION_CLASS_E1NF:
	case ZYDIS_EXCEPTION_CLASS_E2NF:
	case ZYDIS_EXCEPTION_CLASS_E3NF:
	case ZYDIS_EXCEPTION_CLASS_E4NF:
	case ZYDIS_EXCEPTION_CLASS_E5NF:
	case ZYDIS_EXCEPTION_CLASS_E6NF:
	case ZYDIS_EXCEPTION_CLASS_E9NF:
	case ZYDIS_EXCEPTION_CLASS_E10NF:
	case ZYDIS_EXCEPTION_CLASS_E11NF:
		break; /* the whole operand is read whatever the mask */
	default:
		out->mem[0].kind = MEM_MASKED;
	}
}

void convert_gather(ZydisMnemonic mnemonic, struct insn *out)
{
	unsigned widest;

	switch (mnemonic) {
	case ZYDIS_MNEMONIC_VGATHERDPD:
	case ZYDIS_MNEMONIC_VGATHERDPS:
	case ZYDIS_MNEMONIC_VPGATHERDD:
	case ZYDIS_MNEMONIC_VPGATHERDQ:
	case ZYDIS_MNEMONIC_VSCATTERDPD:
	case ZYDIS_MNEMONIC_VSCATTERDPS:
	case ZYDIS_MNEMONIC_VPSCATTERDD:
	case ZYDIS_MNEMONIC_VPSCATTERDQ:
		out->index_bytes = 4;
		break;
	case ZYDIS_MNEMONIC_VGATHERQPD:
	case ZYDIS_MNEMONIC_VGATHERQPS:
	case ZYDIS_MNEMONIC_VPGATHERQD:
	case ZYDIS_MNEMONIC_VPGATHERQQ:
	case ZYDIS_MNEMONIC_VSCATTERQPD:
	case ZYDIS_MNEMONIC_VSCATTERQPS:
	case ZYDIS_MNEMONIC_VPSCATTERQD:
	case ZYDIS_MNEMONIC_VPSCATTERQQ:
		out->index_bytes = 8;
		break;
	default: /* gather and scatter prefetch */
		out->mem[0].kind = MEM_ADDRESS;
		out->mem[0].rw = 0;
		return;
	}
	out->element_bytes = out->mem[0].bytes;
	widest = out->index_bytes > out->element_bytes ? out->index_bytes
						       : out->element_bytes;
	out->mask_elements = out->vector_bytes / widest;
}
