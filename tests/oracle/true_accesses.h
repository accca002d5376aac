/* SPDX-License-Identifier: MIT */
/*
 * true_accesses - what an instruction accesses, asked of Zydis alone
 *
 * A second implementation, to test src/x86/decode/accesses.h against: it goes
 * through every operand that Zydis reports, hidden ones too, and forms the
 * addresses from the registers. It knows neither masks nor vector indices.
 */
#ifndef COMDET_TESTS_ORACLE_TRUE_ACCESSES_H
#define COMDET_TESTS_ORACLE_TRUE_ACCESSES_H

#include <stddef.h>
#include <stdint.h>

#include "src/x86/interp/interp.h"

/*
 * The accesses of the instruction in the @n bytes of @code at cpu->rip. Only
 * addr, ip, len and the bits LOAD and STORE of flags are filled. Returns how
 * many, or -ENOTSUP for what it does not know.
 */
int true_accesses(const struct cpu_state *cpu, const void *code, size_t n,
		  struct access *out, int max);

/* The instruction as text, for messages. */
void instruction_text(uint64_t ip, const void *code, size_t n, char *text,
		      size_t size);

/* Its mnemonic, "?" if there is none. */
const char *instruction_name(const void *code, size_t n);

#endif
