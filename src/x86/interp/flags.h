/* SPDX-License-Identifier: MIT */
/*
 * flags - the status flags with their taints
 */
#ifndef COMDET_X86_INTERP_FLAGS_H
#define COMDET_X86_INTERP_FLAGS_H

#include "state.h"

/* Flags in @mask take their bit of @flags; those in @undefined have none. */
void set_flags(struct interp *in, uint32_t mask, uint32_t undefined,
	       uint64_t flags, uint64_t taint);
uint64_t flags_taint(const struct interp *in, uint32_t mask);
/* v is 0 or 1 */
struct value condition(const struct interp *in, unsigned code);
/* As cmp sets them. */
void compare_flags(struct interp *in, uint64_t a, uint64_t b, unsigned bytes,
		   uint64_t taint);
uint32_t result_flags(uint64_t r, unsigned bytes); /* SF ZF PF */

/* The flags of @a + @b + @carry = @r, and of @a - @b - @borrow = @r. */
uint32_t add_flags(uint64_t a, uint64_t b, uint64_t carry, uint64_t r,
		   unsigned bytes);
uint32_t sub_flags(uint64_t a, uint64_t b, uint64_t borrow, uint64_t r,
		   unsigned bytes);

#endif
