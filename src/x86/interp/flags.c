/* SPDX-License-Identifier: MIT */
/*
 * flags - the status flags with their taints
 *
 * The carry flag has a taint of its own, because inc, bt and the rotates treat
 * it separately; the other status flags share one taint. A flag that an
 * instruction leaves undefined is unknown until another instruction sets it.
 */
#include "flags.h"

#include "src/base/signal_safe.h"

void set_flags(struct interp *in, uint32_t mask, uint32_t undefined,
	       uint64_t flags, uint64_t taint)
{
	in->cpu.rflags = (in->cpu.rflags & ~(uint64_t)mask) | (flags & mask);
	in->undefined = (in->undefined & ~mask) | undefined;
	if ((mask | undefined) & FLAG_CF)
		in->carry_taint = taint;
	if (((mask | undefined) & FLAGS_STATUS) == FLAGS_STATUS)
		in->status_taint = taint;
	else if ((mask | undefined) & FLAGS_STATUS)
		in->status_taint |= taint;
}

uint64_t flags_taint(const struct interp *in, uint32_t mask)
{
	uint64_t taint = 0;

	if (mask & in->undefined)
		taint = TAINT_UNKNOWN;
	if (mask & FLAG_CF)
		taint |= in->carry_taint;
	if (mask & FLAGS_STATUS)
		taint |= in->status_taint;
	if (mask & FLAG_DF)
		taint |= in->direction_taint;
	return taint;
}

struct value condition(const struct interp *in, unsigned code)
{
	static const uint16_t uses[8] = {
		FLAG_OF, FLAG_CF, FLAG_ZF,           FLAG_CF | FLAG_ZF,
		FLAG_SF, FLAG_PF, FLAG_SF | FLAG_OF, FLAG_SF | FLAG_OF | FLAG_ZF
	};
	uint64_t flags = in->cpu.rflags;
	bool sign_differs = !(flags & FLAG_SF) != !(flags & FLAG_OF);
	bool holds;

	switch (code >> 1) {
	case 6:
		holds = sign_differs;
		break;
	case 7:
		holds = sign_differs || flags & FLAG_ZF;
		break;
	default:
		holds = flags & uses[code >> 1];
	}
	return (struct value){ holds ^ (code & 1),
			       flags_taint(in, uses[code >> 1]) };
}

uint32_t result_flags(uint64_t r, unsigned bytes)
{
	uint32_t flags = 0;

	if (!(r & low_mask(bytes)))
		flags |= FLAG_ZF;
	if (r & sign_bit(bytes))
		flags |= FLAG_SF;
	if (!__builtin_parity(r & 0xff))
		flags |= FLAG_PF;
	return flags;
}

uint32_t add_flags(uint64_t a, uint64_t b, uint64_t carry, uint64_t r,
		   unsigned bytes)
{
	uint64_t mask = low_mask(bytes);
	uint32_t flags = result_flags(r, bytes);

	if ((r & mask) < (a & mask) || (carry && (r & mask) == (a & mask)))
		flags |= FLAG_CF;
	if (~(a ^ b) & (a ^ r) & sign_bit(bytes))
		flags |= FLAG_OF;
	return flags | ((a ^ b ^ r) & FLAG_AF);
}

uint32_t sub_flags(uint64_t a, uint64_t b, uint64_t borrow, uint64_t r,
		   unsigned bytes)
{
	uint64_t mask = low_mask(bytes);
	uint32_t flags = result_flags(r, bytes);

	if ((a & mask) < (b & mask) || (borrow && (a & mask) == (b & mask)))
		flags |= FLAG_CF;
	if ((a ^ b) & (a ^ r) & sign_bit(bytes))
		flags |= FLAG_OF;
	return flags | ((a ^ b ^ r) & FLAG_AF);
}

void compare_flags(struct interp *in, uint64_t a, uint64_t b, unsigned bytes,
		   uint64_t taint)
{
	set_flags(in, FLAGS_ALL, 0, sub_flags(a, b, 0, a - b, bytes), taint);
}
