/* SPDX-License-Identifier: MIT */
/*
 * vector - the vector and mask registers
 *
 * A register is copied from the interrupted context when it is first used.
 * The bytes above those that an instruction writes are zeroed by VEX and EVEX
 * forms and kept by the others.
 */
#include <string.h>

#include "vector.h"
#include "load_store.h"
#include "operand.h"

#include "src/base/signal_safe.h"

enum {
	MXCSR_MASKS = 0x1f80
};

void vec_begin(struct interp *in)
{
	in->vec_loaded = 0;
	in->mask_loaded = 0;
	in->fp_exact = false;
	in->x87_control = (struct value){ 0, TAINT_UNKNOWN };
	if (!in->cpu.fxsave)
		return;
	in->x87_control.taint = 0;
	memcpy(&in->x87_control.v, in->cpu.fxsave, 2);
	memcpy(&in->mxcsr, (const uint8_t *)in->cpu.fxsave + FXSAVE_MXCSR,
	       sizeof(in->mxcsr));
	in->fp_exact = (in->mxcsr & MXCSR_MASKS) == MXCSR_MASKS;
}

union lane *vec_lanes(struct interp *in, unsigned reg)
{
	if (in->vec_loaded >> reg & 1)
		return in->vec[reg];
	in->vec_loaded |= 1u << reg;
	for (unsigned i = 0; i < LANES; i++) {
		const void *from = cpu_state_lane(&in->cpu, reg, i);

		in->vec_taint[reg][i] = from ? 0 : TAINT_UNKNOWN;
		if (from)
			memcpy(&in->vec[reg][i], from, LANE_BYTES);
		else
			memset(&in->vec[reg][i], 0, LANE_BYTES);
	}
	return in->vec[reg];
}

uint64_t *mask_value(struct interp *in, unsigned reg)
{
	const uint8_t *from = in->cpu.opmask;

	if (in->mask_loaded >> reg & 1)
		return &in->mask[reg];
	in->mask_loaded |= 1u << reg;
	in->mask_taint[reg] = from ? 0 : TAINT_UNKNOWN;
	in->mask[reg] = 0;
	if (from)
		memcpy(&in->mask[reg], from + 8 * reg, sizeof(in->mask[reg]));
	return &in->mask[reg];
}

/* Fill @bytes of @v with copies of its first @n bytes. */
static void replicate(struct vec *v, unsigned n, unsigned bytes)
{
	uint8_t *b = v->bytes;

	for (unsigned at = n; at < bytes; at += n)
		memcpy(b + at, b, n);
	for (unsigned i = 1; i < LANES; i++)
		v->taint[i] = v->taint[0];
}

/*
 * Copies of fixed size, inlined: the C library's memcpy may use wider vector
 * registers than the stubs do, and switching between them is slow on some
 * processors. Most copies are of one lane, for scalars.
 */
static void copy_lanes(union lane *to, uint64_t *to_taint,
		       const union lane *from, const uint64_t *from_taint,
		       unsigned lanes)
{
	to[0] = from[0];
	to_taint[0] = from_taint[0];
	if (lanes == 1)
		return;
	to[1] = from[1];
	to_taint[1] = from_taint[1];
	if (lanes == 2)
		return;
	to[2] = from[2];
	to[3] = from[3];
	to_taint[2] = from_taint[2];
	to_taint[3] = from_taint[3];
}

static void zero_lanes(union lane *v, uint64_t *taint, unsigned from)
{
	static const union lane zero;

	switch (from) {
	case 0:
		v[0] = zero;
		taint[0] = 0;
		/* fallthrough */
	case 1:
		v[1] = zero;
		taint[1] = 0;
		/* fallthrough */
	case 2:
		v[2] = zero;
		taint[2] = 0;
		/* fallthrough */
	case 3:
		v[3] = zero;
		taint[3] = 0;
	}
}

void vec_read(struct interp *in, const struct insn *insn, int i, struct vec *v)
{
	const struct operand *op = &insn->op[i];
	unsigned lanes = insn->vector_bytes / LANE_BYTES;
	uint64_t taint = TAINT_UNKNOWN;

	if (!lanes)
		lanes = 1;
	if (op->kind == OPERAND_VEC) {
		const union lane *from = vec_lanes(in, op->reg);

		copy_lanes(v->lane, v->taint, from, in->vec_taint[op->reg],
			   lanes);
		return;
	}
	zero_lanes(v->lane, v->taint, 0);
	if (op->kind == OPERAND_MEM && op->bytes)
		taint = load_bytes(in, insn, in->address[op->reg], v->lane,
				   op->bytes, false);
	for (unsigned l = 0; l < lanes; l++)
		v->taint[l] = taint;
	if (op->kind == OPERAND_MEM && insn->flags & INSN_BROADCAST)
		replicate(v, op->bytes, lanes * LANE_BYTES);
}

/* A bit for each byte of a register that the write mask selects. */
static uint64_t selected_bytes(const struct insn *insn, uint64_t k,
			       unsigned bytes)
{
	unsigned size = bytes / insn->mask_elements;
	uint64_t r = 0;

	for (unsigned i = 0; i < insn->mask_elements; i++)
		if (k >> i & 1)
			r |= low_bits(size) << (i * size);
	return r;
}

static void write_masked(struct interp *in, const struct insn *insn,
			 unsigned reg, const struct vec *v, unsigned bytes)
{
	uint64_t k = *mask_value(in, insn->write_mask);
	uint64_t k_taint = in->mask_taint[insn->write_mask];
	uint64_t chosen = selected_bytes(insn, k, bytes);
	union lane *to = vec_lanes(in, reg);
	bool zeroing = insn->flags & INSN_ZEROING;

	for (unsigned i = 0; i * LANE_BYTES < bytes; i++) {
		uint64_t taint = v->taint[i] | k_taint;
		uint16_t take = chosen >> (i * LANE_BYTES);

		if (take != 0xffff && !zeroing)
			taint |= in->vec_taint[reg][i];
		for (unsigned b = 0; b < LANE_BYTES; b++)
			if (take >> b & 1)
				to[i].b[b] = v->lane[i].b[b];
			else if (zeroing)
				to[i].b[b] = 0;
		in->vec_taint[reg][i] = taint;
	}
}

enum step vec_store(struct interp *in, const struct insn *insn, int mem,
		    const struct vec *v, unsigned bytes)
{
	const uint8_t *from = v->bytes;
	uint64_t base = in->address[mem];
	uint64_t taint = 0;

	for (unsigned i = 0; i * LANE_BYTES < bytes; i++)
		taint |= v->taint[i];
	/* The accesses are known, those of a masked store too. */
	for (uint32_t i = in->count; i < in->pending; i++) {
		const struct access *a = &in->access[i];

		if (!store_bytes(in, a->addr, from + (a->addr - base), a->len,
				 taint))
			return STEP_FULL;
	}
	return STEP_NEXT;
}

enum step vec_write(struct interp *in, const struct insn *insn, int i,
		    const struct vec *v, unsigned bytes)
{
	const struct operand *op = &insn->op[i];
	unsigned lanes = (bytes + LANE_BYTES - 1) / LANE_BYTES;
	union lane *to;

	if (op->kind == OPERAND_MEM)
		return vec_store(in, insn, op->reg, v, bytes);
	if (op->kind != OPERAND_VEC)
		return step_unknown(in, insn);
	to = vec_lanes(in, op->reg);
	if (insn->write_mask) {
		write_masked(in, insn, op->reg, v, bytes);
	} else {
		copy_lanes(to, in->vec_taint[op->reg], v->lane, v->taint,
			   lanes);
	}
	if (insn->flags & INSN_VEX)
		zero_lanes(to, in->vec_taint[op->reg], lanes);
	return STEP_NEXT;
}

bool float_exact(const struct interp *in, const struct insn *insn)
{
	return in->fp_exact && !(insn->flags & INSN_ROUNDING);
}
