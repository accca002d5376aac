/* SPDX-License-Identifier: MIT */
/*
 * reg_types_seeds - which register holds which pointer, as DWARF tells
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "reg_types_internal.h"
#include "analysis/base/util.h"

enum {
	DEPTH_MAX = 64, /* of scopes */
	SEEDS_MAX = 20000,
	DIES_MAX = 100000,
	RANGES_MAX = 64,
};

struct gather {
	struct dwarf_types *types;
	uint64_t start, end; /* of the code */
	int frame_base;      /* a register, FRAME; -1: not known */
	struct seed *seed;
	size_t n, room, dies;
};

/* DWARF's numbers of the general registers, as instructions encode them. */
static const uint8_t encoded[GPRS] = { 0, 2, 1,  3,  6,  7,  5,  4,
				       8, 9, 10, 11, 12, 13, 14, 15 };

static void add_seed(struct gather *g, uint64_t start, uint64_t end,
		     unsigned reg, const struct data_type *type, int64_t at)
{
	if (start < g->start)
		start = g->start;
	if (end > g->end)
		end = g->end;
	if (reg >= GPRS || !type || start >= end || g->n >= SEEDS_MAX)
		return;
	g->seed = grow(g->seed, g->n, &g->room, sizeof(*g->seed));
	g->seed[g->n++] = (struct seed){ .start = start,
					 .end = end,
					 .reg = encoded[reg],
					 .value = { .type = type, .at = at } };
}

/* A variable in memory, @at bytes behind what @reg points to. */
static void add_memory(struct gather *g, uint64_t start, uint64_t end, int reg,
		       const struct data_type *type, int64_t at)
{
	size_t before = g->n;

	if (reg < 0 || at < INT32_MIN || at > INT32_MAX)
		return;
	add_seed(g, start, end, reg == FRAME ? 0 : (unsigned)reg, type, at);
	if (g->n == before)
		return;
	g->seed[before].in_memory = true;
	if (reg == FRAME)
		g->seed[before].reg = FRAME;
}

/* The register that an operation names; false if it names none. */
static bool register_of(const Dwarf_Op *op, unsigned *reg)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		*reg = op->atom - DW_OP_reg0;
	else if (op->atom == DW_OP_regx && op->number < GPRS)
		*reg = (unsigned)op->number;
	else
		return false;
	return true;
}

/* A structure in several registers, such as a slice: its pointers. */
static void add_pieces(struct gather *g, const Dwarf_Op *op, size_t ops,
		       uint64_t start, uint64_t end,
		       const struct data_type *type)
{
	uint64_t at = 0;

	for (size_t i = 0; i < ops && at < type->size; i++) {
		const struct data_type *leaf;
		unsigned reg;

		if (op[i].atom == DW_OP_piece) { /* of what is nowhere */
			at += op[i].number;
			continue;
		}
		if (i + 1 == ops || op[i + 1].atom != DW_OP_piece)
			return;
		leaf = dwarf_types_leaf(g->types, type, at);
		if (register_of(&op[i], &reg) && op[i + 1].number == 8)
			add_seed(g, start, end, reg,
				 dwarf_types_target(g->types, leaf), 0);
		at += op[++i].number;
	}
}

static void add_location(struct gather *g, const Dwarf_Op *op, size_t ops,
			 uint64_t start, uint64_t end,
			 const struct data_type *type)
{
	const struct data_type *target = dwarf_types_target(g->types, type);
	unsigned reg;

	if (target && ops == 1 && register_of(op, &reg))
		add_seed(g, start, end, reg, target, 0);
	else if (ops == 1 && op[0].atom == DW_OP_fbreg)
		add_memory(g, start, end, g->frame_base, type,
			   (int64_t)op[0].number);
	else if (ops == 1 && op[0].atom == DW_OP_call_frame_cfa)
		add_memory(g, start, end, FRAME, type, 0);
	else if (ops == 1 && op[0].atom >= DW_OP_breg0 &&
		 op[0].atom <= DW_OP_breg15)
		add_memory(g, start, end, op[0].atom - DW_OP_breg0, type,
			   (int64_t)op[0].number);
	/* The pointer is the register plus a number. */
	else if (target && ops == 2 && op[0].atom >= DW_OP_breg0 &&
		 op[0].atom <= DW_OP_breg15 &&
		 op[1].atom == DW_OP_stack_value &&
		 (int64_t)op[0].number > INT32_MIN &&
		 (int64_t)op[0].number < INT32_MAX)
		add_seed(g, start, end, op[0].atom - DW_OP_breg0, target,
			 -(int64_t)op[0].number);
	else if (ops > 1 && type->compound)
		add_pieces(g, op, ops, start, end, type);
	/* A small structure may fill one register. */
	else if (ops == 1 && type->compound && type->size == 8 &&
		 register_of(op, &reg))
		add_seed(g, start, end, reg,
			 dwarf_types_target(
				 g->types, dwarf_types_leaf(g->types, type, 0)),
			 0);
}

/* A location without a range holds in the whole scope. */
static void add_everywhere(struct gather *g, Dwarf_Die *scope,
			   const Dwarf_Op *op, size_t ops,
			   const struct data_type *type)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (int i = 0; i < RANGES_MAX; i++) {
		at = dwarf_ranges(scope, at, &base, &start, &end);
		if (at <= 0)
			return;
		add_location(g, op, ops, start, end, type);
	}
}

static void add_variable(struct gather *g, Dwarf_Die *die, Dwarf_Die *scope)
{
	const struct data_type *type;
	Dwarf_Addr base, start, end;
	Dwarf_Attribute attr;
	ptrdiff_t at = 0;
	Dwarf_Op *op;
	size_t ops;

	if (!dwarf_attr(die, DW_AT_location, &attr))
		return;
	type = dwarf_types_of(g->types, die);
	if (!type || !(type->pointer || type->compound))
		return;
	for (int i = 0; i < SEEDS_MAX; i++) {
		at = dwarf_getlocations(&attr, at, &base, &start, &end, &op,
					&ops);
		if (at <= 0)
			return;
		if (!start && end == (Dwarf_Addr)-1)
			add_everywhere(g, scope, op, ops, type);
		else
			add_location(g, op, ops, start, end, type);
	}
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) ||
	       dwarf_hasattr(die, DW_AT_ranges);
}

static void gather(struct gather *g, Dwarf_Die *parent, Dwarf_Die *scope,
		   int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return;
	do {
		if (g->dies++ > DIES_MAX)
			return;
		switch (dwarf_tag(&die)) {
		case DW_TAG_formal_parameter:
		case DW_TAG_variable:
			add_variable(g, &die, scope);
			break;
		case DW_TAG_inlined_subroutine:
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block:
			gather(g, &die, has_code(&die) ? &die : scope,
			       depth + 1);
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

static int compare_seeds(const void *a, const void *b)
{
	const struct seed *x = a, *y = b;

	if (x->start != y->start)
		return order_u64(x->start, y->start);
	return order_u64(y->end, x->end); /* the narrower one counts */
}

/*
 * What DW_OP_fbreg counts from, by DWARF's number; FRAME: rsp of the caller.
 * Go's linker writes it as a block, as until DWARF 3, which libdw does not take
 * for an expression in DWARF 4.
 */
static int frame_base(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	Dwarf_Block block;

	if (!dwarf_attr(function, DW_AT_frame_base, &attr) ||
	    dwarf_formblock(&attr, &block) || block.length != 1)
		return -1;
	if (block.data[0] == DW_OP_call_frame_cfa)
		return FRAME;
	return block.data[0] >= DW_OP_reg0 && block.data[0] <= DW_OP_reg15
		       ? block.data[0] - DW_OP_reg0
		       : -1;
}

struct seed *reg_types_seeds(struct dwarf_types *t, Dwarf_Die *function,
			     uint64_t start, uint64_t end, size_t *n)
{
	struct gather g = { .types = t,
			    .start = start,
			    .end = end,
			    .frame_base = frame_base(function) };

	gather(&g, function, function, 0);
	if (g.n)
		qsort(g.seed, g.n, sizeof(*g.seed), compare_seeds);
	*n = g.n;
	return g.seed;
}
