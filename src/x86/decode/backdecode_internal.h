/* SPDX-License-Identifier: MIT */
/*
 * backdecode_internal - what the two sides of backdecode.h share
 */
#ifndef COMDET_X86_DECODE_BACKDECODE_INTERNAL_H
#define COMDET_X86_DECODE_BACKDECODE_INTERNAL_H

#include "backdecode.h"
#include "insn.h"

enum {
	BACK_BYTES = 64
};

/* The code before an address. */
struct code_before {
	uint64_t ip;
	uint32_t have; /* readable bytes before ip */
	uint8_t bytes[BACK_BYTES];
};

void backdecode_read(const struct memory *mem, uint64_t ip,
		     struct code_before *c);

/* Decode the instruction that starts @back bytes before the address. */
int backdecode_at(const struct code_before *c, uint32_t back,
		  struct insn *insn);

/*
 * The length of the instruction before the address by majority, 0 if that is
 * unclear. *@targeted: branches to the address were found, so it need not be
 * the one executed before. Both are remembered.
 */
uint32_t backdecode_previous(const struct memory *mem,
			     const struct code_before *c, bool *targeted);

/*
 * The accesses of @insn, which was executed just before @cpu (a repeated
 * string instruction: its last repetition); 0 if they cannot be known.
 */
int backdecode_accesses(const struct insn *insn, const struct cpu_state *cpu,
			struct access *out);

#endif
