/* SPDX-License-Identifier: MIT */
/*
 * overlaps - accesses that share only their last byte
 *
 *	overlaps BYTES ROUNDS
 *
 * Each round stores to a thousand places of 2, 4, 8 or 16 bytes, at all offsets
 * within a line, and then loads the last byte of each. So each access is
 * followed by the next one to its bytes after a thousand accesses.
 */
#include <stdlib.h>

enum {
	PLACES = 1000,
	APART = 17, /* odd, so that all offsets occur */
};

struct bytes_2 {
	unsigned short x;
} __attribute__((packed));

struct bytes_4 {
	unsigned int x;
} __attribute__((packed));

struct bytes_8 {
	unsigned long x;
} __attribute__((packed));

struct bytes_16 {
	unsigned __int128 x;
} __attribute__((packed));

static char data[PLACES * APART] __attribute__((aligned(64)));

#define ROUND(bytes)                                                           \
	case bytes:                                                            \
		for (long k = 0; k < PLACES; k++)                              \
			((volatile struct bytes_##bytes *)&data[k * APART])    \
				->x = 1;                                       \
		break;

int main(int argc, char **argv)
{
	long bytes = argc > 1 ? atol(argv[1]) : 8;
	long rounds = argc > 2 ? atol(argv[2]) : 1000;

	for (long i = 0; i < rounds; i++) {
		switch (bytes) {
			ROUND(2)
			ROUND(4)
			ROUND(8)
			ROUND(16)
		default:
			return 2;
		}
		for (long k = 0; k < PLACES; k++)
			(void)*(volatile char *)&data[k * APART + bytes - 1];
	}
	return 0;
}
