/* SPDX-License-Identifier: MIT */
/*
 * decode - the instruction at an address, from a cache or decoded by Zydis
 *
 * Decoded instructions are cached by address. A cached instruction is used
 * only after its bytes were compared with what is in memory now, so code that
 * changes (a JIT, dlclose) is decoded anew.
 *
 * Context: any, handler included. No allocation: the cache is static memory.
 */
#ifndef COMDET_X86_DECODE_DECODE_H
#define COMDET_X86_DECODE_DECODE_H

#include "insn.h"
#include "memory.h"

/*
 * The instruction at @ip, from the cache or decoded now, in *@scratch.
 * Returns @scratch, or NULL with *@error -EFAULT (code cannot be read) or
 * -EILSEQ (not an instruction).
 */
const struct insn *decode_at(const struct memory *mem, uint64_t ip,
			     struct insn *scratch, int *error);

/*
 * A hint: whoever asks for @ip asks DECODE_AHEAD instructions later for
 * @later, whose cache slot decode_at(@ip) then fetches from memory beforehand.
 */
enum {
	DECODE_AHEAD = 6
};
void decode_learn_ahead(uint64_t ip, uint64_t later);

/*
 * Decode the first instruction of the @n bytes in @code as if they were at
 * @ip. Does not touch the cache. Returns 0, -ENODATA if @n is too little, or
 * -EILSEQ.
 */
int decode_bytes(const void *code, size_t n, uint64_t ip, struct insn *out);

/* True if decode_at would find no other bytes at insn->ip now. */
bool decode_unchanged(const struct memory *mem, const struct insn *insn);

#endif
