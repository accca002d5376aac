/* SPDX-License-Identifier: MIT */
/*
 * convert - from what Zydis decoded to struct insn
 *
 * Zydis describes operands well. This file adds what Zydis leaves out and
 * corrects what differs from the processor's accesses: the registers of string
 * instructions, xlat, bit strings, pops into rsp-relative memory, operands
 * that are only addresses, and masks that suppress accesses.
 */
#include <string.h>

#include "convert_internal.h"
#include "cpu_state.h"

#include "src/base/signal_safe.h"

static uint8_t gpr_number(ZydisRegister r)
{
	if (register_in(r, ZYDIS_REGISTER_RAX, 16))
		return r - ZYDIS_REGISTER_RAX;
	if (register_in(r, ZYDIS_REGISTER_EAX, 16))
		return r - ZYDIS_REGISTER_EAX;
	if (register_in(r, ZYDIS_REGISTER_AX, 16))
		return r - ZYDIS_REGISTER_AX;
	if (register_in(r, ZYDIS_REGISTER_AL, 4))
		return r - ZYDIS_REGISTER_AL;
	if (register_in(r, ZYDIS_REGISTER_AH, 4))
		return r - ZYDIS_REGISTER_AH;
	if (register_in(r, ZYDIS_REGISTER_SPL, 12))
		return r - ZYDIS_REGISTER_SPL + 4;
	return NO_REG;
}

static uint8_t read_write(const ZydisDecodedOperand *o)
{
	uint8_t rw = 0;

	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		rw |= ACCESS_LOAD;
	if (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		rw |= ACCESS_STORE;
	return rw;
}

static void note_register(struct insn *out, const ZydisDecodedOperand *o)
{
	ZydisRegister r = o->reg.value;

	if (register_in(r, ZYDIS_REGISTER_ST0, 8) ||
	    register_in(r, ZYDIS_REGISTER_MM0, 8))
		out->flags |= INSN_X87;
	if (!(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return;
	if (gpr_number(r) != NO_REG)
		out->gpr_written |= 1u << gpr_number(r);
	else if (vector_number(r) != NO_REG)
		out->vec_written |= 1u << vector_number(r);
	else if (register_in(r, ZYDIS_REGISTER_K0, 8))
		out->mask_written |= 1u << (r - ZYDIS_REGISTER_K0);
	else if (r == ZYDIS_REGISTER_FS || r == ZYDIS_REGISTER_GS)
		out->flow = FLOW_SYSTEM; /* changes a base we rely on */
}

static void convert_register(struct operand *op, const ZydisDecodedOperand *o)
{
	ZydisRegister r = o->reg.value;

	op->bytes = o->size / 8;
	if (gpr_number(r) != NO_REG) {
		op->kind = register_in(r, ZYDIS_REGISTER_AH, 4) ? OPERAND_HIGH8
								: OPERAND_GPR;
		op->reg = gpr_number(r);
	} else if (vector_number(r) != NO_REG) {
		op->kind = OPERAND_VEC;
		op->reg = vector_number(r);
	} else if (register_in(r, ZYDIS_REGISTER_K0, 8)) {
		op->kind = OPERAND_MASK;
		op->reg = r - ZYDIS_REGISTER_K0;
	} else {
		op->kind = OPERAND_OTHER;
	}
}

static void convert_address(struct insn *out, struct mem_operand *m,
			    const ZydisDecodedOperand *o)
{
	m->disp = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
	m->base = gpr_number(o->mem.base);
	m->index = gpr_number(o->mem.index);
	m->scale = o->mem.scale ? o->mem.scale : 1;
	m->bytes = o->size / 8;
	m->rw = read_write(o);
	if (o->mem.base == ZYDIS_REGISTER_RIP ||
	    o->mem.base == ZYDIS_REGISTER_EIP)
		m->disp += out->ip + out->len;
	if (o->mem.segment == ZYDIS_REGISTER_FS)
		m->segment = SEGMENT_FS;
	else if (o->mem.segment == ZYDIS_REGISTER_GS)
		m->segment = SEGMENT_GS;
	if (o->mem.type == ZYDIS_MEMOP_TYPE_VSIB) {
		m->kind = MEM_VSIB;
		m->index = vector_number(o->mem.index);
	} else if (o->mem.type != ZYDIS_MEMOP_TYPE_MEM || !m->rw) {
		m->kind = MEM_ADDRESS;
	}
}

static void convert_memory(struct insn *out, const ZydisDecodedOperand *o)
{
	struct mem_operand *m;

	if (out->mems == INSN_MEMS_MAX)
		return;
	m = &out->mem[out->mems++];
	convert_address(out, m, o);
	if (o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		return;
	if (m->base == 4 || (m->base == 5 && m->rw == ACCESS_LOAD))
		m->kind = m->rw & ACCESS_STORE ? MEM_STACK_PUSH : MEM_STACK_POP;
}

static void convert_operand(struct insn *out, const ZydisDecodedOperand *o)
{
	struct operand *op = NULL;

	if (o->type == ZYDIS_OPERAND_TYPE_REGISTER)
		note_register(out, o);
	if (o->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
	    o->encoding != ZYDIS_OPERAND_ENCODING_MASK &&
	    out->operands < INSN_OPERANDS_MAX) {
		op = &out->op[out->operands++];
		op->rw = read_write(o);
	}
	switch (o->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		if (op)
			convert_register(op, o);
		break;
	case ZYDIS_OPERAND_TYPE_MEMORY:
		if (op) {
			op->kind = OPERAND_MEM;
			op->reg = out->mems;
			op->bytes = o->size / 8 > 64 ? 0 : o->size / 8;
		}
		convert_memory(out, o);
		break;
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		if (!op)
			break;
		op->kind = OPERAND_IMM;
		op->bytes = o->size / 8;
		if (out->operands > 1 &&
		    out->op[out->operands - 2].kind == OPERAND_IMM)
			break; /* the second immediate of enter, extrq */
		out->imm = o->imm.value.u;
		if (o->imm.is_relative)
			out->imm += out->ip + out->len;
		break;
	default:
		if (op)
			op->kind = OPERAND_OTHER;
	}
}

static void convert_string(struct insn *out, ZydisMnemonic mnemonic)
{
	for (int i = 0; i < out->mems; i++) {
		out->mem[i].kind = MEM_STRING;
		out->gpr_written |= 1u << out->mem[i].base;
	}
	out->flags |= INSN_STRING;
	if (out->flags & (INSN_REP | INSN_REPNE)) {
		out->gpr_written |= 1u << 1;
		out->gpr_address |= 1u << 1;
	}
}

static void only_address(struct insn *out)
{
	for (int i = 0; i < out->mems; i++) {
		out->mem[i].kind = MEM_ADDRESS;
		out->mem[i].rw = 0;
	}
}

static void add_clzero(struct insn *out)
{
	out->mem[out->mems++] = (struct mem_operand){
		.index = NO_REG,
		.scale = 1,
		.bytes = 64,
		.rw = ACCESS_STORE,
		.kind = MEM_LINE,
	};
}

/* Correct single instructions whose operands do not say all. */
static void convert_special(const ZydisDecodedInstruction *z, struct insn *out)
{
	struct mem_operand *m = out->mem;

	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
	case ZYDIS_MNEMONIC_BTC:
		if (out->mems && out->op[1].kind == OPERAND_GPR) {
			m->kind = MEM_BITS;
			out->gpr_address |= 1u << out->op[1].reg;
		}
		break;
	case ZYDIS_MNEMONIC_XLAT:
		m->index = 0;
		m->scale = 0;
		break;
	case ZYDIS_MNEMONIC_POP:
		if (out->mems == 2 && m->base == 4)
			m->disp += m->bytes; /* rsp as after the pop */
		break;
	case ZYDIS_MNEMONIC_CMPXCHG:
	case ZYDIS_MNEMONIC_CMPXCHG8B:
	case ZYDIS_MNEMONIC_CMPXCHG16B:
		m->rw = ACCESS_LOAD | ACCESS_STORE; /* writes back anyway */
		break;
	case ZYDIS_MNEMONIC_XCHG:
		if (out->mems)
			out->flags |= INSN_LOCKED;
		break;
	case ZYDIS_MNEMONIC_ENTER:
		if (z->raw.imm[1].value.u & 31)
			m->kind = MEM_OPAQUE;
		break;
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU:
		m->kind = MEM_MASKED;
		out->element_bytes = 1;
		out->mask_elements = m->bytes;
		break;
	case ZYDIS_MNEMONIC_VMASKMOVPS:
	case ZYDIS_MNEMONIC_VMASKMOVPD:
	case ZYDIS_MNEMONIC_VPMASKMOVD:
	case ZYDIS_MNEMONIC_VPMASKMOVQ:
		m->kind = MEM_MASKED;
		break;
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
		m->rw = ACCESS_STORE;
		m->bytes = cpu_state_xsave_bytes();
		break;
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_XRSTOR64:
		m->rw = ACCESS_LOAD;
		m->bytes = cpu_state_xsave_bytes();
		out->vec_written = ~0u;
		out->mask_written = 0xff;
		break;
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
		out->vec_written = 0xffff;
		break;
	case ZYDIS_MNEMONIC_VP2INTERSECTD:
	case ZYDIS_MNEMONIC_VP2INTERSECTQ:
		out->mask_written |= 3u << (out->op[0].reg & ~1u);
		break;
	case ZYDIS_MNEMONIC_CLZERO:
		add_clzero(out);
		break;
	case ZYDIS_MNEMONIC_TILELOADD:
	case ZYDIS_MNEMONIC_TILELOADDT1:
	case ZYDIS_MNEMONIC_TILESTORED:
	case ZYDIS_MNEMONIC_BNDLDX:
	case ZYDIS_MNEMONIC_BNDSTX:
		m->kind = MEM_OPAQUE;
		break;
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_CLWB:
	case ZYDIS_MNEMONIC_CLDEMOTE:
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
		only_address(out);
		break;
	case ZYDIS_MNEMONIC_VZEROUPPER:
	case ZYDIS_MNEMONIC_VZEROALL:
		out->vec_written = 0xffff;
		break;
	default:
		break;
	}
}

static uint8_t flow_of(const ZydisDecodedInstruction *z, uint8_t flow)
{
	if (z->attributes & ZYDIS_ATTRIB_IS_PRIVILEGED ||
	    z->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return FLOW_SYSTEM;
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_XBEGIN:
	case ZYDIS_MNEMONIC_XEND:
	case ZYDIS_MNEMONIC_XABORT:
	case ZYDIS_MNEMONIC_WRFSBASE:
	case ZYDIS_MNEMONIC_WRGSBASE:
	case ZYDIS_MNEMONIC_STI:
	case ZYDIS_MNEMONIC_CLI:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
		return FLOW_SYSTEM;
	default:
		break;
	}
	switch (z->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return FLOW_COND;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return FLOW_JUMP;
	case ZYDIS_CATEGORY_CALL:
		return FLOW_CALL;
	case ZYDIS_CATEGORY_RET:
		return FLOW_RET;
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_SGX:
	case ZYDIS_CATEGORY_UINTR:
		return FLOW_SYSTEM;
	default:
		return flow;
	}
}

static uint16_t flags_of(const ZydisDecodedInstruction *z)
{
	uint16_t flags = 0;

	if (z->attributes & ZYDIS_ATTRIB_HAS_LOCK)
		flags |= INSN_LOCKED;
	if (z->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE))
		flags |= INSN_REP;
	if (z->attributes & ZYDIS_ATTRIB_HAS_REPNE)
		flags |= INSN_REPNE;
	if (z->address_width == 32)
		flags |= INSN_ADDRESS32;
	if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
	    z->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP)
		flags |= INSN_VEX;
	if (z->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		flags |= INSN_VEX | INSN_EVEX;
	if (z->avx.mask.mode == ZYDIS_MASK_MODE_ZEROING ||
	    z->avx.mask.mode == ZYDIS_MASK_MODE_CONTROL_ZEROING)
		flags |= INSN_ZEROING;
	if (z->avx.broadcast.mode != ZYDIS_BROADCAST_MODE_INVALID &&
	    !z->avx.broadcast.is_static)
		flags |= INSN_BROADCAST;
	if (z->avx.has_sae ||
	    z->avx.rounding.mode != ZYDIS_ROUNDING_MODE_INVALID)
		flags |= INSN_ROUNDING;
	if (z->meta.category == ZYDIS_CATEGORY_X87_ALU ||
	    z->meta.category == ZYDIS_CATEGORY_MMX)
		flags |= INSN_X87;
	return flags;
}

void decode_convert(const ZydisDecodedInstruction *z,
		    const ZydisDecodedOperand *operands, struct insn *out)
{
	out->len = z->length;
	out->mnemonic = z->mnemonic;
	out->flags = flags_of(z);
	out->condition = z->opcode & 15;
	if (out->flags & INSN_VEX)
		out->vector_bytes = z->avx.vector_length / 8;
	if (z->avx.mask.reg >= ZYDIS_REGISTER_K1 &&
	    z->avx.mask.reg <= ZYDIS_REGISTER_K7)
		out->write_mask = z->avx.mask.reg - ZYDIS_REGISTER_K0;
	for (int i = 0; i < z->operand_count; i++)
		convert_operand(out, &operands[i]);
	if (z->cpu_flags)
		out->eflags_written =
			z->cpu_flags->modified | z->cpu_flags->set_0 |
			z->cpu_flags->set_1 | z->cpu_flags->undefined;
	out->flow = flow_of(z, out->flow);
	if (z->meta.category == ZYDIS_CATEGORY_STRINGOP)
		convert_string(out, z->mnemonic);
	if (z->meta.category == ZYDIS_CATEGORY_NOP ||
	    z->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	    z->meta.category == ZYDIS_CATEGORY_PREFETCH ||
	    z->meta.category == ZYDIS_CATEGORY_PREFETCHWT1)
		only_address(out);
	convert_mask(z, operands, out);
	if (out->mems && out->mem[0].kind == MEM_VSIB)
		convert_gather(z->mnemonic, out);
	convert_special(z, out);
	for (int i = 0; i < out->mems; i++) {
		const struct mem_operand *m = &out->mem[i];

		if (m->base != NO_REG)
			out->gpr_address |= 1u << m->base;
		if (m->index != NO_REG && m->kind != MEM_VSIB)
			out->gpr_address |= 1u << m->index;
	}
}

/* Of these only mov has the register in its operand, not in its opcode. */
static bool loads_fs_or_gs(const ZydisDecodedInstruction *z)
{
	switch (z->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return z->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT &&
		       z->opcode == 0x8e &&
		       (z->raw.modrm.reg == 4 || z->raw.modrm.reg == 5);
	case ZYDIS_MNEMONIC_POP:
		return z->opcode_map == ZYDIS_OPCODE_MAP_0F;
	case ZYDIS_MNEMONIC_LFS:
	case ZYDIS_MNEMONIC_LGS:
		return true;
	default:
		return false;
	}
}

void convert_shape(const ZydisDecodedInstruction *z, uint64_t ip,
		   struct insn_shape *out)
{
	out->len = z->length;
	out->flow = flow_of(z, loads_fs_or_gs(z) ? FLOW_SYSTEM : FLOW_NEXT);
	out->target = 0;
	if (z->raw.imm[0].is_relative)
		out->target = ip + z->length + z->raw.imm[0].value.u;
}
