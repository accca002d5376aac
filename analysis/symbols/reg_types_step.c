/* SPDX-License-Identifier: MIT */
/*
 * reg_types_step - how one instruction changes what the registers point to
 */
#include <Zydis/Zydis.h>
#include <stdlib.h>

#include "reg_types_internal.h"

enum {
	/* of the ABI: a function that is called may change them */
	CALLER_SAVED = 1 << GPR_RAX | 1 << GPR_RCX | 1 << GPR_RDX |
		       1 << GPR_RSI | 1 << GPR_RDI | 0xf << 8,
	ALL_BUT_FRAME = 0xffff & ~(1 << GPR_RSP | 1 << GPR_RBP),
	LEAST_ADDRESS = 0x1000, /* of a static variable */
};

/* @offset from the start of one object, if the objects are in an array. */
static uint64_t within(const struct data_type *type, int64_t offset)
{
	int64_t size = (int64_t)type->size;

	if (size <= 0)
		return (uint64_t)offset;
	offset %= size;
	return (uint64_t)(offset < 0 ? offset + size : offset);
}

/* The static variable at @addr; any number if none is there. */
static struct reg_value variable_at(const struct reg_types_file *file,
				    int64_t addr)
{
	const struct data_variable *v =
		addr < LEAST_ADDRESS
			? NULL
			: dwarf_types_variable(file->types, (uint64_t)addr);

	return v ? reg_value_pointer(v->type, addr - (int64_t)v->start)
		 : reg_value_any();
}

/* The thread-local variable at @disp from the thread's control block. */
static bool tls_at(const struct reg_types_file *file, int64_t disp,
		   struct typed_place *out)
{
	uint64_t offset = file->tls_bytes + (uint64_t)disp;
	const struct data_variable *v;

	if (disp >= 0 || offset >= file->tls_bytes)
		return false;
	v = dwarf_types_tls(file->types, offset);
	if (!v)
		return false;
	*out = (struct typed_place){ .type = v->type,
				     .offset = (int64_t)(offset - v->start),
				     .fixed = true };
	return true;
}

/* The address that base and index make. */
static struct reg_value from_registers(const struct mem_operand *mem,
				       const struct regs *regs)
{
	struct reg_value v = reg_value_number(0), index;

	if (mem->base < GPRS)
		v = regs->r[mem->base];
	if (mem->index >= GPRS)
		return v;
	index = regs->r[mem->index];
	return reg_value_add(
		v, mem->scale == 1 ? index
				   : reg_value_multiply(index, mem->scale));
}

static struct reg_value address(const struct mem_operand *mem,
				const struct regs *regs)
{
	return reg_value_add(from_registers(mem, regs),
			     reg_value_number(mem->disp));
}

/* What @mem is the address of, in an object; any number if not known. */
static struct reg_value place(const struct reg_types_file *file,
			      const struct mem_operand *mem,
			      const struct moment *m, bool *fixed)
{
	struct reg_value v = address(mem, &m->regs), variable;

	*fixed = false;
	if (mem->segment != SEGMENT_NONE)
		return reg_value_any();
	if (v.type == &reg_value_frame)
		return reg_types_in_frame(m, v);
	if (v.type)
		return v;
	/* "counters(,%rax,8)": the variable's address is in the instruction. */
	variable = variable_at(file, mem->disp);
	*fixed = variable.type;
	return reg_value_add(variable, from_registers(mem, &m->regs));
}

bool reg_types_place(const struct reg_types_file *file,
		     const struct mem_operand *mem, const struct moment *m,
		     struct typed_place *out)
{
	struct reg_value v;
	bool fixed;

	if (mem->segment == SEGMENT_FS)
		return mem->base >= GPRS && mem->index >= GPRS &&
		       tls_at(file, mem->disp, out);
	v = place(file, mem, m, &fixed);
	*out = (struct typed_place){ .type = v.type,
				     .offset = v.at,
				     .indexed = !reg_value_is_place(&v),
				     .fixed = fixed };
	return v.type;
}

/* What a pointer at @at bytes of an object of @type points to. */
static const struct data_type *pointee(const struct reg_types_file *file,
				       const struct data_type *type, int64_t at)
{
	return dwarf_types_target(
		file->types,
		dwarf_types_leaf(file->types, type, within(type, at)));
}

/*
 * What the pointer at @mem points to. At an element that is not known it is as
 * at the next one, if both are of one type.
 */
static struct reg_value load(const struct reg_types_file *file,
			     const struct mem_operand *mem,
			     const struct moment *m)
{
	struct reg_value at = address(mem, &m->regs);
	const struct data_type *type, *next;
	const struct reg_value *spill;
	bool fixed;

	if (at.type == &reg_value_frame && !at.stride) {
		spill = spills_find(&m->spills, at.at);
		if (spill)
			return *spill;
	}
	if (mem->segment == SEGMENT_FS) {
		struct typed_place p;

		return reg_types_place(file, mem, m, &p)
			       ? reg_value_pointer(
					 pointee(file, p.type, p.offset), 0)
			       : reg_value_any();
	}
	at = place(file, mem, m, &fixed);
	type = at.type ? pointee(file, at.type, at.at) : NULL;
	if (!type || reg_value_is_place(&at))
		return reg_value_pointer(type, 0);
	next = llabs(at.stride) < (int64_t)at.type->size
		       ? pointee(file, at.type, at.at + llabs(at.stride))
		       : NULL;
	return reg_value_pointer(next == type ? type : NULL, 0);
}

/* What the function at @target returns a pointer to. */
static struct reg_value returned(const struct reg_types_file *file,
				 uint64_t target)
{
	const struct data_type *type = NULL;
	Dwarf_Die die;

	if (target && dwarf_code_function(file->code, target, &die))
		type = dwarf_types_target(file->types,
					  dwarf_types_of(file->types, &die));
	return reg_value_pointer(type, 0);
}

/* What an operand is before the instruction. */
static struct reg_value operand(const struct reg_types_file *file,
				const struct insn *insn, int i,
				const struct moment *m)
{
	const struct operand *o = &insn->op[i];
	struct reg_value v = reg_value_any();

	switch (o->kind) {
	case OPERAND_IMM:
		v = reg_value_number((int64_t)insn->imm);
		break;
	case OPERAND_GPR:
		v = m->regs.r[o->reg];
		break;
	case OPERAND_MEM:
		if (o->bytes == 8 && insn->mem[o->reg].kind == MEM_PLAIN)
			v = load(file, &insn->mem[o->reg], m);
		break;
	}
	return o->bytes && o->bytes < 8 && o->kind != OPERAND_IMM
		       ? reg_value_cut(v, o->bytes)
		       : v;
}

static struct reg_value move(const struct reg_types_file *file,
			     const struct insn *insn, const struct moment *m)
{
	struct reg_value v;

	if (insn->op[1].kind == OPERAND_IMM) {
		v = variable_at(file, (int64_t)insn->imm);
		if (v.type)
			return v;
	}
	return operand(file, insn, 1, m);
}

static struct reg_value lea(const struct reg_types_file *file,
			    const struct insn *insn, const struct moment *m)
{
	const struct mem_operand *mem = &insn->mem[insn->op[1].reg];
	struct reg_value v = address(mem, &m->regs);
	bool fixed;

	if (v.type || insn->op[1].kind != OPERAND_MEM || mem->segment)
		return v;
	v = place(file, mem, m, &fixed);
	return v.type ? v : address(mem, &m->regs);
}

/* "x & -16" is a multiple of 16. */
static struct reg_value mask(struct reg_value x, int64_t n)
{
	uint64_t rest = (uint64_t)-n;

	if (x.type || n >= 0 || (rest & (rest - 1)))
		return reg_value_any();
	return (struct reg_value){ .stride = (int64_t)rest };
}

/* What the first operand, a general register, holds afterwards. */
static struct reg_value result(const struct reg_types_file *file,
			       const struct insn *insn, const struct moment *m)
{
	const struct operand *to = &insn->op[0], *from = &insn->op[1];
	struct reg_value x = operand(file, insn, 0, m),
			 y = insn->operands > 1 ? operand(file, insn, 1, m)
						: reg_value_any();
	bool number = from->kind == OPERAND_IMM && insn->operands > 1;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return move(file, insn, m);
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		return y;
	case ZYDIS_MNEMONIC_LEA:
		return lea(file, insn, m);
	case ZYDIS_MNEMONIC_ADD:
		return reg_value_add(x, y);
	case ZYDIS_MNEMONIC_SUB:
		return reg_value_subtract(x, y);
	case ZYDIS_MNEMONIC_INC:
		return reg_value_add(x, reg_value_number(1));
	case ZYDIS_MNEMONIC_DEC:
		return reg_value_add(x, reg_value_number(-1));
	case ZYDIS_MNEMONIC_SHL:
		return number && insn->imm < 32
			       ? reg_value_multiply(x, INT64_C(1) << insn->imm)
			       : reg_value_any();
	case ZYDIS_MNEMONIC_IMUL:
		return insn->operands == 3 && insn->op[2].kind == OPERAND_IMM
			       ? reg_value_multiply(y, (int64_t)insn->imm)
			       : reg_value_any();
	case ZYDIS_MNEMONIC_AND:
		return number ? mask(x, (int64_t)insn->imm) : reg_value_any();
	case ZYDIS_MNEMONIC_XOR:
		return from->kind == OPERAND_GPR && from->reg == to->reg
			       ? reg_value_number(0)
			       : reg_value_any();
	default:
		return reg_value_any();
	}
}

/* Register @r holds @v from now on; unknown number @i is a new one. */
static void set(struct moment *m, int r, struct reg_value v, uint32_t i)
{
	for (int k = 0; k < GPRS; k++)
		if (m->regs.r[k].unknown == i)
			m->regs.r[k].unknown = 0;
	for (size_t k = 0; k < m->spills.n; k++)
		if (m->spills.spill[k].value.unknown == i)
			m->spills.spill[k].value.unknown = 0;
	if (v.unknown == i)
		v.unknown = 0;
	if (!v.type && v.stride == 1 && !v.unknown)
		v.unknown = i;
	m->regs.r[r] = v;
}

/* The function passes on an address of its frame. */
static void take(struct habits *h, const struct reg_value *v)
{
	for (size_t i = 0; i < h->takens; i++)
		if (h->taken[i] == v->at && !v->stride)
			return;
	if (v->stride || h->takens == TAKEN_MAX)
		h->all_taken = true;
	else
		h->taken[h->takens++] = v->at;
}

/* What the stores of @insn do to the frame. */
static void store(const struct reg_types_file *file, const struct insn *insn,
		  struct moment *m)
{
	for (int i = 0; i < insn->operands; i++) {
		const struct mem_operand *mem;
		struct reg_value at, v;

		if (insn->op[i].kind != OPERAND_MEM)
			continue;
		mem = &insn->mem[insn->op[i].reg];
		if (!(mem->rw & ACCESS_STORE))
			continue;
		at = address(mem, &m->regs);
		if (at.type != &reg_value_frame)
			continue;
		if (at.stride || mem->kind != MEM_PLAIN || !mem->bytes ||
		    insn->flags & (INSN_REP | INSN_REPNE)) {
			spills_forget(&m->spills, 0, -1);
			continue;
		}
		spills_forget(&m->spills, at.at, mem->bytes);
		if (insn->mnemonic != ZYDIS_MNEMONIC_MOV || mem->bytes != 8 ||
		    insn->op[1].kind != OPERAND_GPR)
			continue;
		v = operand(file, insn, 1, m);
		spills_put(&m->spills, at.at, &v);
	}
}

/* What rsp points to afterwards, if the instruction pushes or pops. */
static struct reg_value stack_pointer(const struct insn *insn,
				      const struct moment *m)
{
	struct reg_value v = m->regs.r[GPR_RSP];

	if (insn->flow == FLOW_CALL)
		return v;
	if (insn->mnemonic == ZYDIS_MNEMONIC_PUSH)
		return reg_value_add(v, reg_value_number(-8));
	if (insn->mnemonic == ZYDIS_MNEMONIC_POP)
		return reg_value_add(v, reg_value_number(8));
	return reg_value_any();
}

void reg_types_step(const struct reg_types_file *file, const struct insn *insn,
		    uint32_t i, struct habits *habits, struct moment *m)
{
	bool to_register = insn->operands >= 1 &&
			   insn->op[0].kind == OPERAND_GPR &&
			   insn->op[0].rw & ACCESS_STORE;
	struct reg_value v = reg_value_any(), rsp = stack_pointer(insn, m);
	uint32_t lost = insn->gpr_written;
	int to = to_register ? insn->op[0].reg : GPR_RAX;

	if (to_register && insn->op[0].bytes >= 4) {
		v = result(file, insn, m);
		if (insn->op[0].bytes < 8)
			v = reg_value_cut(v, insn->op[0].bytes);
	}
	if (insn->flow == FLOW_CALL) {
		lost |= habits->calls_keep_nothing ? ALL_BUT_FRAME
						   : CALLER_SAVED;
		v = returned(file, insn->imm);
		spills_call(&m->spills, habits);
	} else {
		store(file, insn, m);
	}
	if (insn->flow == FLOW_SYSTEM)
		lost |= 1 << GPR_RAX | 1 << GPR_RCX | 1 << 11;
	for (int k = 0; k < GPRS; k++)
		if (lost >> k & 1)
			m->regs.r[k] = reg_value_any();
	if (lost >> GPR_RSP & 1)
		m->regs.r[GPR_RSP] = rsp;
	if (!to_register && insn->flow != FLOW_CALL)
		return;
	set(m, to, v, i);
	if (v.type == &reg_value_frame && to != GPR_RSP && to != GPR_RBP)
		take(habits, &v);
}
