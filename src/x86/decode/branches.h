/* SPDX-License-Identifier: MIT */
/*
 * branches - is there a branch to an address nearby?
 *
 * Bytes that look like a branch count as one, so the answer may be wrongly
 * true, but for code that can be read it is not wrongly false.
 *
 * Context: any, handler included.
 */
#ifndef COMDET_X86_DECODE_BRANCHES_H
#define COMDET_X86_DECODE_BRANCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "memory.h"

/* Does a short branch from behind @ip lead back to it? No such bytes do. */
bool branches_back(const struct memory *mem, uint64_t ip);

/*
 * Branches to @ip from ring @ring, BRANCHES_RING bytes on either side behind
 * those of the rings with lower numbers: long ones, and short ones from before.
 * Those from the 64 bytes before @ip are left to the caller.
 */
enum {
	BRANCHES_RING = 1024
};
bool branches_in_ring(const struct memory *mem, uint64_t ip, uint32_t ring);

/* Could one of the @n bytes begin a short branch to the byte after the last? */
bool branches_may_lead_to_end(const uint8_t *bytes, uint32_t n);

#endif
