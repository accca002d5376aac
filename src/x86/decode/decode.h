/* SPDX-License-Identifier: MIT */
/*
 * decode - the instruction at an address, from a cache or decoded by Zydis
 *
 * Decoded instructions are cached by address. A cached instruction is used
 * only if its bytes are still in memory, so code that changes (a JIT, dlclose)
 * is decoded again.
 *
 * Context: any, handler included. The cache is mapped at its first use; without
 * room for it every instruction is decoded.
 */
#ifndef COMDET_X86_DECODE_DECODE_H
#define COMDET_X86_DECODE_DECODE_H

#include "insn.h"
#include "memory.h"

/*
 * Put the instruction at @ip into *@scratch, from the cache or decoded now.
 * Returns @scratch, or NULL with *@error set to -EFAULT (code cannot be read)
 * or -EILSEQ (not an instruction).
 */
const struct insn *decode_at(const struct memory *mem, uint64_t ip,
			     struct insn *scratch, int *error);

/*
 * A hint that the instruction @later is decoded DECODE_AHEAD instructions
 * after @ip: decode_at(@ip) prefetches the cache slot of @later from then on.
 */
enum {
	DECODE_AHEAD = 6
};
void decode_learn_ahead(uint64_t ip, uint64_t later);

/*
 * The length of the instruction that ends at @ip, if the cache has one and no
 * other that ends there, else 0.
 */
uint32_t decode_length_before(const struct memory *mem, uint64_t ip);

/*
 * Decode the first instruction of the @n bytes in @code as if they were at
 * @ip. Does not use the cache. Returns 0, -ENODATA if the instruction is longer
 * than @n bytes, or -EILSEQ.
 */
int decode_bytes(const void *code, size_t n, uint64_t ip, struct insn *out);

/* As decode_bytes, but of the operands only a branch target: much faster. */
int decode_shape(const void *code, size_t n, uint64_t ip,
		 struct insn_shape *out);

/* True if the bytes in memory at insn->ip are still those of @insn. */
bool decode_unchanged(const struct memory *mem, const struct insn *insn);

#endif
