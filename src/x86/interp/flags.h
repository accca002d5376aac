/* SPDX-License-Identifier: MIT */
/*
 * flags - the status flags with their taints
 */
#ifndef COMDET_X86_INTERP_FLAGS_H
#define COMDET_X86_INTERP_FLAGS_H

#include "state.h"

/* Copy the flags in @mask from @flags; those in @undefined become unknown. */
void set_flags(struct interp *in, uint32_t mask, uint32_t undefined,
	       uint64_t flags, uint64_t taint);
uint64_t flags_taint(const struct interp *in, uint32_t mask);
/* Evaluate condition code @code: v is 0 or 1. */
struct value condition(const struct interp *in, unsigned code);
/* Set the flags as cmp does. */
void compare_flags(struct interp *in, uint64_t a, uint64_t b, unsigned bytes,
		   uint64_t taint);
uint32_t result_flags(uint64_t r, unsigned bytes); /* SF ZF PF */

/* Flags of the sum @r = @a + @b + @carry; of @r = @a - @b - @borrow. */
uint32_t add_flags(uint64_t a, uint64_t b, uint64_t carry, uint64_t r,
		   unsigned bytes);
uint32_t sub_flags(uint64_t a, uint64_t b, uint64_t borrow, uint64_t r,
		   unsigned bytes);

#endif
