/* SPDX-License-Identifier: MIT */
/*
 * vector - the vector and mask registers
 */
#ifndef COMDET_X86_INTERP_VECTOR_H
#define COMDET_X86_INTERP_VECTOR_H

#include "state.h"

union lane *vec_lanes(struct interp *in, unsigned reg);
uint64_t *mask_value(struct interp *in, unsigned reg);

/* The value of a vector operand, from a register or memory. */
struct vec {
	union {
		union lane lane[LANES];
		uint8_t bytes[LANES * LANE_BYTES];
	};
	uint64_t taint[LANES];
};

void vec_read(struct interp *in, const struct insn *insn, int i, struct vec *v);
/*
 * Write the low @bytes of @v to operand @i, under the instruction's write mask.
 * VEX and EVEX forms zero the bytes above.
 */
enum step vec_write(struct interp *in, const struct insn *insn, int i,
		    const struct vec *v, unsigned bytes);
/* Store to memory operand @mem the bytes of @v that its accesses cover. */
enum step vec_store(struct interp *in, const struct insn *insn, int mem,
		    const struct vec *v, unsigned bytes);
void vec_begin(struct interp *in);
/* False if @insn may round in another way than the stubs do. */
bool float_exact(const struct interp *in, const struct insn *insn);

#endif
