/* SPDX-License-Identifier: MIT */
/*
 * oracle_values - random numbers, many of them at the edges of a type
 */
#ifndef COMDET_TESTS_ORACLE_ORACLE_VALUES_H
#define COMDET_TESTS_ORACLE_ORACLE_VALUES_H

#include <stdint.h>
#include <string.h>

static uint64_t oracle_seed = 1;

static uint64_t oracle_random(void)
{
	oracle_seed ^= oracle_seed << 13;
	oracle_seed ^= oracle_seed >> 7;
	oracle_seed ^= oracle_seed << 17;
	return oracle_seed * 0x2545f4914f6cdd1du;
}

static uint64_t edge_value(void)
{
	static const uint64_t edges[] = {
		0,          1,          2,          0x7f,   0x80,
		0xff,       0x7fff,     0x8000,     0xffff, 0x7fffffff,
		0x80000000, 0xffffffff, 1ull << 63, ~0ull,  ~0ull >> 1,
		8,          31,         32,         33,     63,
		64,         ~0ull - 1
	};
	uint64_t r = oracle_random();

	switch (r >> 60) {
	case 0 ... 5:
		return edges[(r >> 20) % (sizeof(edges) / sizeof(edges[0]))];
	case 6 ... 8:
		return r & 0xff;
	case 9 ... 10:
		return (uint32_t)r;
	default:
		return oracle_random();
	}
}

/* Floating-point numbers of all kinds, with many NaNs and denormals. */
static uint32_t edge_float(void)
{
	static const uint32_t edges[] = {
		0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
		0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345, 1,
		0x007fffff, 0x4f000000, 0xcf000000, 0x3f000000, 0x40490fdb,
		0x4b000001, 0x5f000000, 0x00800000, 0x7f7fffff, 0x3fffffff
	};
	uint64_t r = oracle_random();

	if (r >> 62 == 0)
		return (uint32_t)r;
	if (r >> 62 == 1)
		return 0x3f800000 + (uint32_t)(r & 0x1ffffff);
	return edges[(r >> 8) % (sizeof(edges) / sizeof(edges[0]))];
}

static uint64_t edge_double(void)
{
	union {
		double d;
		uint64_t q;
	} u;
	uint32_t f = edge_float();
	float single;

	memcpy(&single, &f, sizeof(single));
	u.d = single;
	if (oracle_random() >> 62 == 0)
		u.q += oracle_random() >> 50;
	return oracle_random() >> 61 == 0 ? oracle_random() : u.q;
}

#endif
