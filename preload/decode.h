/* SPDX-License-Identifier: MIT */
/*
 * decode - x86-64 instructions in the compact form the interpreter works on
 *
 * Zydis decodes; what is kept is what an address, a branch or a value needs.
 * Decoded instructions are cached by address. A cached instruction is used
 * only after its bytes were compared with what is in memory now, so code that
 * changes (a JIT, dlclose) is decoded anew.
 *
 * Context: any, handler included. No allocation: the cache is static memory.
 */
#ifndef COMDET_DECODE_H
#define COMDET_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How decoder and interpreter read the program's memory. read copies @n
 * bytes (at most 64) at @addr and returns 0, or -EFAULT if not all of them
 * are readable; it never faults. Inside [direct_low, direct_high) plain loads
 * are known to be safe (the page the program counter is on), 0,0 if nowhere.
 */
struct memory {
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t n);
	void *ctx;
	uint64_t direct_low, direct_high;
};

#endif
