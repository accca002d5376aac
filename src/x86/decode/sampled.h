/* SPDX-License-Identifier: MIT */
/*
 * sampled - the access that a hardware sample reports
 *
 * The processor reports the instruction and the address of the data. The
 * instruction itself says how many bytes it accesses, whether it is locked and
 * whether it loads and stores.
 */
#ifndef COMDET_X86_DECODE_SAMPLED_H
#define COMDET_X86_DECODE_SAMPLED_H

#include <stdint.h>

#include "src/base/access.h"
#include "memory.h"

/*
 * Describe in @a the access of kind @wanted (ACCESS_LOAD, ACCESS_STORE or
 * both) to @addr by the instruction at @ip. @len is its width in bytes if the
 * sample says it, else 0.
 *
 * A read-modify-write instruction is sampled by the events for loads and by
 * those for stores. A sample of loads gives the load alone; a sample of stores
 * gives an access with both bits.
 *
 * Returns 0, -EFAULT or -EILSEQ if the instruction cannot be read or decoded,
 * or -ENOENT if it makes no such access; the width is then @len, or 1.
 * Context: handler.
 */
int decode_sampled(const struct memory *mem, uint64_t ip, uint64_t addr,
		   uint32_t wanted, uint32_t len, struct access *a);

#endif
