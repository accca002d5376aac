/* SPDX-License-Identifier: MIT */
/*
 * sampled - the access that a hardware sample is about
 *
 * The processor names the instruction and the address of the data; how many
 * bytes, and whether the access was locked or also stored, is in the
 * instruction.
 */
#ifndef COMDET_X86_DECODE_SAMPLED_H
#define COMDET_X86_DECODE_SAMPLED_H

#include <stdint.h>

#include "src/base/access.h"
#include "memory.h"

/*
 * The access of kind @wanted (ACCESS_LOAD or ACCESS_STORE, or both) to @addr
 * by the instruction at @ip, whose width is @len bytes if that is known, else
 * 0.
 *
 * A read-modify-write counts as a load and as a store, so it is sampled by the
 * events of both: as a load it is taken for the load that it makes, and as a
 * store it has both bits.
 *
 * Returns 0, -EFAULT or -EILSEQ if the instruction cannot be read or decoded,
 * or -ENOENT if it makes no such access; the width is 1 then unless known.
 * Context: handler.
 */
int decode_sampled(const struct memory *mem, uint64_t ip, uint64_t addr,
		   uint32_t wanted, uint32_t len, struct access *a);

#endif
