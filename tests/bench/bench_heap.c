/* SPDX-License-Identifier: MIT */
/*
 * bench_heap - nanoseconds of one pair of malloc and free
 *
 * One thread frees and allocates one of 512 blocks of 16 to 256 bytes at
 * random, ten calls deep. Prints the least CPU time of many short loops.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	LIVE = 512,
	LOOPS = 1000,
	PAIRS = 20000,
	DEPTH = 10,
};

static void *live[LIVE];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void churn(void)
{
	static uint64_t x = 1;

	for (int i = 0; i < PAIRS; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		free(live[x >> 55]);
		live[x >> 55] = malloc(16 + (x >> 40) % 241);
	}
}

/* Whoever calls is on the stack: what follows the call needs it. */
__attribute__((noinline)) static int deep(int depth)
{
	volatile int here = depth;

	if (depth)
		deep(depth - 1);
	else
		churn();
	return here;
}

int main(void)
{
	double least = 1e18;

	for (int i = 0; i < LOOPS; i++) {
		double t = now();

		deep(DEPTH);
		t = (now() - t) / PAIRS;
		least = t < least ? t : least;
	}
	printf("%.1f\n", least);
	return 0;
}
