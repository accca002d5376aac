/* SPDX-License-Identifier: MIT */
/*
 * contended - bytes of a line that several threads modify in locked operations
 *
 * Such bytes are locks and counters. They are told apart by words of 4 bytes.
 * All zero at first. Context: one thread at a time, handler included.
 */
#ifndef COMDET_EXACT_CONTENDED_H
#define COMDET_EXACT_CONTENDED_H

#include <stdint.h>

enum {
	CONTENDED_WORD = 4,
	CONTENDED_WORDS = 64 / CONTENDED_WORD
};

struct contended {
	uint16_t first[CONTENDED_WORDS]; /* thread that modified it + 1 */
	uint64_t bytes; /* that several threads modified, a bit each */
};

/* Thread @id modified @bytes, a bit each. */
static inline void contended_add(struct contended *c, uint32_t id,
				 uint64_t bytes)
{
	for (uint32_t w = 0; w < CONTENDED_WORDS; w++) {
		uint64_t word = bytes & UINT64_C(0xf) << w * CONTENDED_WORD;

		if (!word)
			continue;
		if (!c->first[w])
			c->first[w] = id + 1;
		else if (c->first[w] != id + 1)
			c->bytes |= word;
	}
}

#endif
