/* SPDX-License-Identifier: MIT */
/*
 * help_deep_stack - data below the stack pointer that is used again later
 *
 * Fills an array that lies deep in the stack, returns, works without it, and
 * calls again. Meanwhile a signal handler's frames may lie where the array was.
 * Prints a number that depends on the whole array.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	WORDS = 600,
	EACH = 100,       /* steps for a word */
	WORK = 600 * 1000 /* and without them */
};

static __attribute__((noinline)) uint64_t work(uint64_t x, int steps)
{
	for (int i = 0; i < steps; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static __attribute__((noinline)) uint64_t deep(uint64_t x)
{
	volatile uint64_t word[WORDS];

	for (int i = 0; i < WORDS; i++)
		word[i] = x = work(x, EACH);
	return word[x % WORDS];
}

int main(int argc, char **argv)
{
	long turns = argc > 1 ? atol(argv[1]) : 0;
	uint64_t sum = 1;

	for (long i = 0; i < turns; i++)
		sum = work(deep(sum), WORK);
	printf("%llu\n", (unsigned long long)sum);
	return 0;
}
