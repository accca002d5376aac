/* SPDX-License-Identifier: MIT */
/*
 * help_reuse_near - every access is used again after few others
 *
 * Loads WORDS words again and again for so many ms of CPU time, and prints how
 * many ns it takes until a word is loaded again.
 *
 *	help_reuse_near WORDS MILLISECONDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	LOADS = 200000, /* between two readings of the clock */
	WORDS_MAX = 1000,
};

static volatile uint64_t word[WORDS_MAX];

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static __attribute__((noinline)) void sweep(long words)
{
	for (long i = 0; i < words; i++)
		(void)word[i];
}

int main(int argc, char **argv)
{
	long words = argc > 1 ? atol(argv[1]) : 0, sweeps = 0;
	uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
	uint64_t begin = cpu_ns(), now = begin;

	if (words < 1 || words > WORDS_MAX)
		return 1;
	for (; now - begin < most; now = cpu_ns())
		for (long i = 0; i < LOADS / words; i++, sweeps++)
			sweep(words);
	printf("%.1f\n", (double)(now - begin) / (double)sweeps);
	return 0;
}
