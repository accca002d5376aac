/* SPDX-License-Identifier: MIT */
/*
 * true_accesses - the accesses of an instruction, as Zydis describes it
 *
 * A second implementation, with which src/x86/decode/accesses.h is compared. It
 * takes every memory operand that Zydis reports, hidden ones too, and computes
 * the addresses from the registers. It knows neither masks nor vector indices.
 */
#ifndef COMDET_TESTS_ORACLE_TRUE_ACCESSES_H
#define COMDET_TESTS_ORACLE_TRUE_ACCESSES_H

#include <stddef.h>
#include <stdint.h>

#include "src/x86/interp/interp.h"

/*
 * Find the accesses of the instruction at cpu->rip, whose bytes are in @code.
 * Only addr, ip, len and the bits LOAD and STORE of flags are set. Returns
 * their number, or -ENOTSUP if it does not know the instruction.
 */
int true_accesses(const struct cpu_state *cpu, const void *code, size_t n,
		  struct access *out, int max);

/* The instruction as text, for messages. */
void instruction_text(uint64_t ip, const void *code, size_t n, char *text,
		      size_t size);

/* Its mnemonic, "?" if there is none. */
const char *instruction_name(const void *code, size_t n);

#endif
