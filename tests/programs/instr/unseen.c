/* SPDX-License-Identifier: MIT */
/*
 * unseen - code without hooks loads bytes that code with hooks has stored
 *
 *	unseen ROUNDS
 *
 * Each round stores to each of a thousand bytes, which a function without hooks
 * loads right after each store, and then loads each of them. To the hooks every
 * byte is used again after a thousand accesses; in truth a load follows each
 * store at once.
 */
#include <stdlib.h>

enum {
	BYTES = 1000
};

static volatile char data[BYTES];

__attribute__((noinline, no_sanitize("thread"))) static void look(long k)
{
	(void)data[k];
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;

	for (long i = 0; i < rounds; i++) {
		for (long k = 0; k < BYTES; k++) {
			data[k] = 1;
			look(k);
		}
		for (long k = 0; k < BYTES; k++)
			(void)data[k];
	}
	return 0;
}
