/* SPDX-License-Identifier: MIT */
/*
 * strangers - code without hooks stores to bytes that another thread uses
 *
 *	strangers ROUNDS stores|promises
 *
 * In each round the first thread stores to each of a thousand bytes, or only
 * tells the hooks that it does. Then the second thread makes one access with a
 * hook, to a word of its own, and stores to all of the bytes without hooks. To
 * the hooks it looks as if only the first thread used the bytes.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "turns.h"

/* A function of the hooks; NULL in a build without them. */
void __tsan_write1(void *p) __attribute__((weak));

static volatile long own __attribute__((aligned(64)));
static long rounds;
static bool promises;

WITHOUT_HOOKS static void hook(const volatile void *p)
{
	if (__tsan_write1)
		__tsan_write1((void *)(uintptr_t)p);
}

WITHOUT_HOOKS static void *first(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		wait_for(2 * i);
		for (int k = 0; k < BYTES; k++) {
			hook(&data[k]);
			if (!promises)
				data[k] = 1;
		}
		pass(2 * i);
	}
	return NULL;
}

WITHOUT_HOOKS static void *second(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		wait_for(2 * i + 1);
		hook(&own);
		own = i;
		for (int k = 0; k < BYTES; k++)
			data[k] = 2;
		pass(2 * i + 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	rounds = argc > 1 ? atol(argv[1]) : 1000;
	promises = argc > 2 && !strcmp(argv[2], "promises");
	return take_turns(first, second);
}
