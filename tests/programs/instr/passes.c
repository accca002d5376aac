/* SPDX-License-Identifier: MIT */
/*
 * passes - two threads take turns at a thousand bytes
 *
 *	passes ROUNDS [LOADS]
 *
 * In each round the first thread stores to all of them, then the second loads
 * all of them. So each access is followed by the other thread's a thousand
 * accesses of both later; what the first stores it stores to again after a
 * thousand of its own, and what the second has loaded is invalidated. What the
 * threads do to wait for each other has no hooks.
 *
 * With LOADS the second thread loads all of them so often in each round.
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
