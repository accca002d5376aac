/* SPDX-License-Identifier: MIT */
/*
 * passes - two threads take turns on a thousand bytes
 *
 *	passes ROUNDS [LOADS]
 *
 * In each round the first thread stores to all of them, then the second loads
 * all of them. So the other thread accesses each byte a thousand accesses of
 * both later; the first thread stores to it again after a thousand of its own
 * accesses, and the second finds what it loaded invalidated. The code that
 * waits for turns has no hooks.
 *
 * With LOADS the second thread loads all bytes LOADS times in each round.
 */
#include <stdlib.h>

#include "turns.h"

static long rounds, loads = 1;

static void *first(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		wait_for(2 * i);
		for (int k = 0; k < BYTES; k++)
			data[k] = 1;
		pass(2 * i);
	}
	return NULL;
}

static void *second(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		wait_for(2 * i + 1);
		for (long k = 0; k < loads * BYTES; k++)
			(void)data[k % BYTES];
		pass(2 * i + 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? atol(argv[1]) : 1000;
	loads = argc > 2 ? atol(argv[2]) : 1;
	return take_turns(first, second);
}
