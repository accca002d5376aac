/* SPDX-License-Identifier: MIT */
/*
 * expression - what a DWARF expression of .eh_frame computes
 */
#include <errno.h>

#include "expression.h"
#include "dwarf.h"

#include "src/base/signal_safe.h"

struct machine {
	struct walk code;
	uint64_t begin; /* of the code: a jump stays behind it */
	const struct unwind_registers *regs;
	struct reader *memory;
	uint64_t value[EXPRESSION_VALUES_MAX];
	unsigned depth;
	bool bad;
};

static void push(struct machine *m, uint64_t v)
{
	if (m->depth == EXPRESSION_VALUES_MAX)
		m->bad = true;
	else
		m->value[m->depth++] = v;
}

static uint64_t pop(struct machine *m)
{
	if (!m->depth) {
		m->bad = true;
		return 0;
	}
	return m->value[--m->depth];
}

/* The value under @n others. */
static uint64_t under(struct machine *m, uint64_t n)
{
	if (n >= m->depth) {
		m->bad = true;
		return 0;
	}
	return m->value[m->depth - 1 - n];
}

static void push_register(struct machine *m, uint64_t n)
{
	int64_t offset = walk_sleb(&m->code);

	if (n >= UNWIND_REGISTERS || !register_known(m->regs, (unsigned)n))
		m->bad = true;
	else
		push(m, m->regs->value[n] + (uint64_t)offset);
}

static void push_memory(struct machine *m, uint64_t bytes)
{
	uint64_t addr = pop(m), v = 0;

	if (!bytes || bytes > sizeof(v) || m->bad ||
	    reader_copy(m->memory, addr, &v, bytes))
		m->bad = true;
	else
		push(m, v);
}

static void jump(struct machine *m, int16_t by)
{
	uint64_t to = m->code.at + (uint64_t)(int64_t)by;

	if (to < m->begin || to > m->code.end)
		m->bad = true;
	else
		m->code.at = to;
}

/* Constants, and values that are there. False: none of these. */
static bool constant(struct machine *m, uint8_t op)
{
	struct walk *c = &m->code;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push(m, op - DW_OP_lit0);
		return true;
	}
	switch (op) {
	case DW_OP_addr:
	case DW_OP_const8u:
	case DW_OP_const8s:
		push(m, walk_fixed(c, 8));
		return true;
	case DW_OP_const1u:
		push(m, walk_fixed(c, 1));
		return true;
	case DW_OP_const1s:
		push(m, (uint64_t)(int8_t)walk_fixed(c, 1));
		return true;
	case DW_OP_const2u:
		push(m, walk_fixed(c, 2));
		return true;
	case DW_OP_const2s:
		push(m, (uint64_t)(int16_t)walk_fixed(c, 2));
		return true;
	case DW_OP_const4u:
		push(m, walk_fixed(c, 4));
		return true;
	case DW_OP_const4s:
		push(m, (uint64_t)(int32_t)walk_fixed(c, 4));
		return true;
	case DW_OP_constu:
		push(m, walk_uleb(c));
		return true;
	case DW_OP_consts:
		push(m, (uint64_t)walk_sleb(c));
		return true;
	default:
		return false;
	}
}

static void swap(struct machine *m)
{
	uint64_t a = pop(m), b = pop(m);

	push(m, a);
	push(m, b);
}

static void rotate(struct machine *m)
{
	uint64_t a = pop(m), b = pop(m), c = pop(m);

	push(m, a);
	push(m, c);
	push(m, b);
}

/* Of the stack, of one value, or of no value. False: none of these. */
static bool simple(struct machine *m, uint8_t op)
{
	uint64_t v;

	switch (op) {
	case DW_OP_nop:
		return true;
	case DW_OP_dup:
		push(m, under(m, 0));
		return true;
	case DW_OP_over:
		push(m, under(m, 1));
		return true;
	case DW_OP_pick:
		push(m, under(m, walk_fixed(&m->code, 1)));
		return true;
	case DW_OP_drop:
		pop(m);
		return true;
	case DW_OP_swap:
		swap(m);
		return true;
	case DW_OP_rot:
		rotate(m);
		return true;
	case DW_OP_abs:
		v = pop(m);
		push(m, (int64_t)v < 0 ? -v : v);
		return true;
	case DW_OP_neg:
		push(m, -pop(m));
		return true;
	case DW_OP_not:
		push(m, ~pop(m));
		return true;
	case DW_OP_plus_uconst:
		v = pop(m);
		push(m, v + walk_uleb(&m->code));
		return true;
	case DW_OP_deref:
		push_memory(m, 8);
		return true;
	case DW_OP_deref_size:
		push_memory(m, walk_fixed(&m->code, 1));
		return true;
	case DW_OP_bregx:
		push_register(m, walk_uleb(&m->code));
		return true;
	default:
		return false;
	}
}

static uint64_t divided(struct machine *m, uint64_t a, uint64_t b)
{
	if (!b || (b == UINT64_MAX && a == (uint64_t)INT64_MIN)) {
		m->bad = true;
		return 0;
	}
	return (uint64_t)((int64_t)a / (int64_t)b);
}

/* Of two values; the later one is @b. */
static uint64_t of_two(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
	int64_t left = (int64_t)a, right = (int64_t)b;

	switch (op) {
	case DW_OP_and:
		return a & b;
	case DW_OP_or:
		return a | b;
	case DW_OP_xor:
		return a ^ b;
	case DW_OP_plus:
		return a + b;
	case DW_OP_minus:
		return a - b;
	case DW_OP_mul:
		return a * b;
	case DW_OP_div:
		return divided(m, a, b);
	case DW_OP_mod:
		m->bad |= !b;
		return b ? a % b : 0;
	case DW_OP_shl:
		return b < 64 ? a << b : 0;
	case DW_OP_shr:
		return b < 64 ? a >> b : 0;
	case DW_OP_shra:
		return (uint64_t)(left >> (b < 64 ? b : 63));
	case DW_OP_eq:
		return left == right;
	case DW_OP_ge:
		return left >= right;
	case DW_OP_gt:
		return left > right;
	case DW_OP_le:
		return left <= right;
	case DW_OP_lt:
		return left < right;
	case DW_OP_ne:
		return left != right;
	default:
		m->bad = true;
		return 0;
	}
}

static void step(struct machine *m, uint8_t op)
{
	int16_t by;
	uint64_t b;

	if (op == DW_OP_bra || op == DW_OP_skip) {
		by = (int16_t)walk_fixed(&m->code, 2);
		if (op == DW_OP_skip || pop(m))
			jump(m, by);
	} else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(m, op - DW_OP_breg0);
	} else if (!constant(m, op) && !simple(m, op)) {
		b = pop(m);
		push(m, of_two(m, op, pop(m), b));
	}
}

int expression_value(struct walk code, const struct unwind_registers *regs,
		     struct reader *memory, const uint64_t *first,
		     uint64_t *out)
{
	struct machine m = {
		.code = code, .begin = code.at, .regs = regs, .memory = memory
	};

	if (first)
		push(&m, *first);
	for (int i = 0; m.code.at < m.code.end; i++) {
		if (i == EXPRESSION_STEPS_MAX)
			return -EINVAL;
		step(&m, (uint8_t)walk_fixed(&m.code, 1));
		if (m.bad || m.code.spent)
			return -EINVAL;
	}
	*out = pop(&m);
	return m.bad || m.code.spent ? -EINVAL : 0;
}
