/* SPDX-License-Identifier: MIT */
/*
 * published - stores that an atomic store publishes
 *
 *	published ROUNDS
 *
 * Each round stores to each of a thousand words, followed by an atomic store
 * and a copy of a text.
 */
#include <stdlib.h>
#include <string.h>

enum {
	WORDS = 1000,
	TEXT = 64,
};

static volatile int data[WORDS];
static char from[TEXT], to[TEXT];
static int flag;

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;

	for (long i = 0; i < rounds; i++)
		for (long k = 0; k < WORDS; k++) {
			data[k] = 1;
			if (k % 2)
				__atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
			else
				memcpy(to, from, TEXT - k % 7);
		}
	return 0;
}
