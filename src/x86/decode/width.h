/* SPDX-License-Identifier: MIT */
/*
 * width - values of one to eight bytes in words of 64 bits
 */
#ifndef COMDET_X86_DECODE_WIDTH_H
#define COMDET_X86_DECODE_WIDTH_H

#include <stdint.h>

static inline uint64_t low_bits(unsigned bits)
{
	return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

static inline uint64_t low_mask(unsigned bytes)
{
	return low_bits(8 * bytes);
}

static inline uint64_t sign_extend(uint64_t v, unsigned bytes)
{
	unsigned shift = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

static inline uint64_t sign_bit(unsigned bytes)
{
	return 1ull << (8 * bytes - 1);
}

#endif
