/* SPDX-License-Identifier: MIT */
/*
 * registers - the registers of one frame, under DWARF's numbers
 */
#ifndef COMDET_UNWIND_REGISTERS_H
#define COMDET_UNWIND_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>

/* The x86-64 ABI's numbers, figure 3.36. */
enum {
	FRAME_RAX = 0,
	FRAME_RDX = 1,
	FRAME_RCX = 2,
	FRAME_RBX = 3,
	FRAME_RSI = 4,
	FRAME_RDI = 5,
	FRAME_RBP = 6,
	FRAME_RSP = 7,
	FRAME_R8 = 8,
	FRAME_R12 = 12,
	FRAME_R15 = 15,
	FRAME_PC = 16, /* where the frame goes on */
	UNWIND_REGISTERS = 17,
};

struct unwind_registers {
	uint64_t value[UNWIND_REGISTERS];
	uint32_t known; /* a bit each */
};

static inline bool register_known(const struct unwind_registers *r, unsigned n)
{
	return n < UNWIND_REGISTERS && r->known >> n & 1;
}

static inline void register_set(struct unwind_registers *r, unsigned n,
				uint64_t value)
{
	r->value[n] = value;
	r->known |= UINT32_C(1) << n;
}

/* The ABI lets a function change all others. */
static inline bool register_is_kept(unsigned n)
{
	return n == FRAME_RBX || n == FRAME_RBP ||
	       (n >= FRAME_R12 && n <= FRAME_R15);
}

#endif
