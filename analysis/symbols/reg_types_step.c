/* SPDX-License-Identifier: MIT */
/*
 * reg_types_step - how one instruction changes what the registers point to
 */
#include <Zydis/Zydis.h>

#include "reg_types_internal.h"

enum {
	/* of the ABI: a function that is called may change them */
	CALLER_SAVED = 1 << GPR_RAX | 1 << GPR_RCX | 1 << GPR_RDX |
		       1 << GPR_RSI | 1 << GPR_RDI | 0xf << 8,
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

static bool add_offset(int64_t *sum, int64_t n)
{
	return !__builtin_add_overflow(*sum, n, sum);
}

/* The static variable at @addr. */
static bool variable_at(const struct reg_types_file *file, uint64_t addr,
			struct reg_value *out)
{
	const struct data_variable *v = dwarf_types_variable(file->types, addr);

	if (!v)
		return false;
	out->type = v->type;
	out->at = (int64_t)(addr - v->start);
	return true;
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

static bool from_register(const struct reg_value *v, int64_t disp, bool indexed,
			  struct typed_place *out)
{
	if (!v->type)
		return false;
	*out = (struct typed_place){ .type = v->type,
				     .offset = v->at,
				     .indexed = indexed };
	return add_offset(&out->offset, disp);
}

bool reg_types_place(const struct reg_types_file *file,
		     const struct mem_operand *mem, const struct regs *regs,
		     struct typed_place *out)
{
	bool base = mem->base < GPRS, index = mem->index < GPRS;
	struct reg_value v;

	if (mem->segment == SEGMENT_FS)
		return !base && !index && tls_at(file, mem->disp, out);
	if (mem->segment != SEGMENT_NONE)
		return false;
	if (base && from_register(&regs->r[mem->base], mem->disp, index, out))
		return true;
	if (index && mem->scale == 1 &&
	    from_register(&regs->r[mem->index], mem->disp, base, out))
		return true;
	/* "counters(,%rax,8)": the variable's address is in the instruction. */
	if (mem->disp < LEAST_ADDRESS ||
	    !variable_at(file, (uint64_t)mem->disp, &v))
		return false;
	*out = (struct typed_place){ .type = v.type,
				     .offset = v.at,
				     .indexed = base || index,
				     .fixed = true };
	return true;
}

/* What the pointer at @mem points to. */
static struct reg_value load(const struct reg_types_file *file,
			     const struct mem_operand *mem,
			     const struct regs *regs)
{
	struct reg_value v = { NULL, 0 };
	struct typed_place at;

	if (reg_types_place(file, mem, regs, &at))
		v.type = dwarf_types_target(
			file->types,
			dwarf_types_leaf(file->types, at.type,
					 within(at.type, at.offset)));
	return v;
}

static struct reg_value lea(const struct reg_types_file *file,
			    const struct mem_operand *mem,
			    const struct regs *regs)
{
	struct reg_value v = { NULL, 0 };
	struct typed_place at;

	if (reg_types_place(file, mem, regs, &at)) {
		v.type = at.type;
		v.at = at.offset;
	}
	return v;
}

/* What the function at @target returns a pointer to. */
static struct reg_value returned(const struct reg_types_file *file,
				 uint64_t target)
{
	struct reg_value v = { NULL, 0 };
	Dwarf_Die die;

	if (target && dwarf_code_function(file->code, target, &die))
		v.type = dwarf_types_target(file->types,
					    dwarf_types_of(file->types, &die));
	return v;
}

static struct reg_value move(const struct reg_types_file *file,
			     const struct insn *insn, const struct regs *regs)
{
	const struct operand *from = &insn->op[1];
	struct reg_value v = { NULL, 0 };

	if (from->kind == OPERAND_GPR && insn->op[0].bytes == 8)
		return regs->r[from->reg];
	if (from->kind == OPERAND_MEM && insn->op[0].bytes == 8 &&
	    insn->mem[from->reg].kind == MEM_PLAIN)
		return load(file, &insn->mem[from->reg], regs);
	if (from->kind == OPERAND_IMM && insn->imm >= LEAST_ADDRESS)
		variable_at(file, insn->imm, &v);
	return v;
}

/* An index that is added leaves the pointer in its array. */
static struct reg_value add(const struct reg_types_file *file,
			    const struct insn *insn, const struct regs *regs,
			    int sign)
{
	const struct operand *from = &insn->op[1];
	struct reg_value v = regs->r[insn->op[0].reg];

	switch (from->kind) {
	case OPERAND_IMM:
		if (!add_offset(&v.at, sign * (int64_t)(int32_t)insn->imm))
			v.type = NULL;
		break;
	case OPERAND_GPR:
		if (!v.type && sign > 0)
			v = regs->r[from->reg];
		else if (v.type && regs->r[from->reg].type)
			v.type = NULL; /* a difference of pointers */
		break;
	case OPERAND_MEM:
		if (!v.type && sign > 0)
			v = load(file, &insn->mem[from->reg], regs);
		break;
	default:
		v.type = NULL;
	}
	return v;
}

/* What the first operand, a general register, points to afterwards. */
static struct reg_value result(const struct reg_types_file *file,
			       const struct insn *insn, const struct regs *regs)
{
	const struct operand *to = &insn->op[0], *from = &insn->op[1];
	struct reg_value v = { NULL, 0 };

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		return move(file, insn, regs);
	case ZYDIS_MNEMONIC_LEA:
		if (to->bytes == 8 && from->kind == OPERAND_MEM)
			v = lea(file, &insn->mem[from->reg], regs);
		return v;
	case ZYDIS_MNEMONIC_ADD:
		return to->bytes == 8 ? add(file, insn, regs, 1) : v;
	case ZYDIS_MNEMONIC_SUB:
		return to->bytes == 8 ? add(file, insn, regs, -1) : v;
	default:
		return v;
	}
}

void reg_types_step(const struct reg_types_file *file, const struct insn *insn,
		    struct regs *regs)
{
	struct reg_value v = { NULL, 0 };
	bool to_register = insn->operands >= 2 &&
			   insn->op[0].kind == OPERAND_GPR &&
			   insn->op[0].rw & ACCESS_STORE;
	uint32_t lost = insn->gpr_written;

	if (to_register)
		v = result(file, insn, regs);
	if (insn->flow == FLOW_CALL) {
		lost |= CALLER_SAVED;
		v = returned(file, insn->imm);
	}
	if (insn->flow == FLOW_SYSTEM)
		lost |= 1 << GPR_RAX | 1 << GPR_RCX | 1 << 11;
	for (int i = 0; i < GPRS; i++)
		if (lost >> i & 1)
			regs->r[i].type = NULL;
	if (to_register)
		regs->r[insn->op[0].reg] = v;
	else if (insn->flow == FLOW_CALL)
		regs->r[GPR_RAX] = v;
}
