/* SPDX-License-Identifier: MIT */
/*
 * backdecode_internal - what backdecode.c and backdecode_trap.c share
 */
#ifndef COMDET_X86_DECODE_BACKDECODE_INTERNAL_H
#define COMDET_X86_DECODE_BACKDECODE_INTERNAL_H

#include "backdecode.h"
#include "insn.h"

enum {
	BACK_BYTES = 64
};

/* The code before an address, which is at the end of bytes. */
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
 * Return the length of the instruction before the address by majority vote, 0
 * if there is no clear majority. *@targeted is set if a branch to the address
 * was found, so that another instruction may have been executed before. Both
 * answers are cached.
 */
uint32_t backdecode_previous(const struct memory *mem,
			     const struct code_before *c, bool *targeted);

/*
 * Find the accesses of @insn, which was executed just before @cpu (for a
 * repeated string instruction: those of its last repetition). Returns their
 * number, 0 if they cannot be known.
 */
int backdecode_accesses(const struct insn *insn, const struct cpu_state *cpu,
			struct access *out);

#endif
