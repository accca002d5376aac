/* SPDX-License-Identifier: MIT */
/*
 * bits - powers of two, sizes rounded up, and sets of small numbers
 *
 * A set of the numbers 0 to n - 1 is n / 64 words, rounded up. Context: any.
 */
#ifndef COMDET_BASE_BITS_H
#define COMDET_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* The least multiple of @unit, a power of two, that is not below @bytes. */
static inline size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) & -unit;
}

/* Words of a set of @n numbers. */
static inline uint32_t set_words(uint32_t n)
{
	return (n + 63) / 64;
}

static inline bool set_has(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> i % 64 & 1;
}

static inline void set_insert(uint64_t *set, uint32_t i)
{
	set[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void set_erase(uint64_t *set, uint32_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << i % 64);
}

#endif
