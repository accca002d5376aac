/* SPDX-License-Identifier: MIT */
/*
 * true_accesses - the accesses of an instruction, as Zydis describes it
 */
#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "true_accesses.h"

static int full_decode(const void *code, size_t n, ZydisDecodedInstruction *in,
		       ZydisDecodedOperand *op)
{
	ZydisDecoder d;

	ZydisDecoderInit(&d, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d, code, n, in, op))
		       ? 0
		       : -EILSEQ;
}

/* Value of a general register of any width, 0 for none. */
static uint64_t value(const struct cpu_state *cpu, ZydisRegister r)
{
	ZydisRegister whole =
		ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
	uint64_t v, bits = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, r);

	if (r == ZYDIS_REGISTER_NONE)
		return 0;
	v = cpu->gpr[ZydisRegisterGetId(whole)];
	return bits == 64 ? v : v & ((1ull << bits) - 1);
}

static bool no_access(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return true;
	default:
		return false;
	}
}

/* Bit instructions use a register operand as an offset of any size. */
static int64_t bit_offset(const struct cpu_state *cpu,
			  const ZydisDecodedInstruction *in,
			  const ZydisDecodedOperand *op)
{
	uint64_t bits = op[0].size, v;

	if (in->meta.category != ZYDIS_CATEGORY_BITBYTE ||
	    op[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return 0;
	v = value(cpu, op[1].reg.value);
	if (bits < 64)
		v = (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
	return ((int64_t)v >> (bits == 64   ? 6
			       : bits == 32 ? 5
					    : 4)) *
	       (int64_t)(bits / 8);
}

static uint64_t address(const struct cpu_state *cpu,
			const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *o)
{
	uint64_t a = (uint64_t)o->mem.disp.value;

	if (o->mem.base == ZYDIS_REGISTER_RIP)
		a += cpu->rip + in->length;
	else
		a += value(cpu, o->mem.base);
	a += value(cpu, o->mem.index) * o->mem.scale;
	if (in->address_width == 32)
		a = (uint32_t)a;
	if (o->mem.segment == ZYDIS_REGISTER_FS)
		a += cpu->fs_base;
	if (o->mem.segment == ZYDIS_REGISTER_GS)
		a += cpu->gs_base;
	return a;
}

int true_accesses(const struct cpu_state *cpu, const void *code, size_t n,
		  struct access *out, int max)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	int found = 0;

	if (full_decode(code, n, &in, op))
		return -ENOTSUP;
	if (no_access(&in))
		return 0;
	if (in.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE |
			     ZYDIS_ATTRIB_HAS_REPNE) &&
	    !cpu->gpr[GPR_RCX])
		return 0;
	for (int i = 0; i < in.operand_count && found < max; i++) {
		const ZydisDecodedOperand *o = &op[i];
		struct access *a = &out[found];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY ||
		    o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM || !o->size ||
		    o->size > 512 || in.avx.mask.reg > ZYDIS_REGISTER_K0 ||
		    in.mnemonic == ZYDIS_MNEMONIC_VMASKMOVPS ||
		    in.mnemonic == ZYDIS_MNEMONIC_VMASKMOVPD ||
		    in.mnemonic == ZYDIS_MNEMONIC_VPMASKMOVD ||
		    in.mnemonic == ZYDIS_MNEMONIC_VPMASKMOVQ ||
		    in.mnemonic == ZYDIS_MNEMONIC_MASKMOVDQU)
			return -ENOTSUP;
		*a = (struct access){ .addr = address(cpu, &in, o),
				      .ip = cpu->rip,
				      .len = o->size / 8 };
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
			a->flags |= ACCESS_LOAD;
		if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			a->flags |= ACCESS_STORE;
		if (o->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
		    o->mem.base == ZYDIS_REGISTER_RSP) {
			if (in.mnemonic == ZYDIS_MNEMONIC_LEAVE)
				a->addr = cpu->gpr[GPR_RBP];
			else if (a->flags & ACCESS_STORE)
				a->addr -= a->len;
		}
		if (i == 0)
			a->addr += (uint64_t)bit_offset(cpu, &in, op);
		if (a->flags)
			found++;
	}
	return found;
}

void instruction_text(uint64_t ip, const void *code, size_t n, char *text,
		      size_t size)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;
	ZydisFormatter f;

	snprintf(text, size, "(not an instruction)");
	if (full_decode(code, n, &in, op))
		return;
	ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_INTEL);
	ZydisFormatterFormatInstruction(&f, &in, op, in.operand_count_visible,
					text, size, ip, NULL);
}

const char *instruction_name(const void *code, size_t n)
{
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	if (full_decode(code, n, &in, op))
		return "?";
	return ZydisMnemonicGetString(in.mnemonic);
}
