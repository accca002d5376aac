/* SPDX-License-Identifier: MIT */
/*
 * parts - instructions whose access QEMU makes in several parts
 */
#include "parts.h"
#include "src/x86/decode/decode.h"

enum {
	PART_BYTES = 8,   /* at most, of QEMU's accesses */
	WHOLE_BYTES = 32, /* of the widest access that QEMU knows */
};

/* Masked moves and gathers access elements, and xsave an area. */
uint64_t emu_parts_of(const struct qemu_plugin_insn *insn, uint64_t ip)
{
	const struct mem_operand *m;
	struct insn decoded;

	if (ip > EMU_PARTS_ADDRESS ||
	    decode_bytes(qemu_plugin_insn_data(insn),
			 qemu_plugin_insn_size(insn), ip, &decoded) ||
	    decoded.mems != 1)
		return ip;
	m = &decoded.mem[0];
	if (m->kind != MEM_PLAIN || m->bytes <= PART_BYTES ||
	    m->bytes > WHOLE_BYTES)
		return ip;
	return ip | (uint64_t)m->bytes << EMU_PARTS_SHIFT;
}
