/* SPDX-License-Identifier: MIT */
/*
 * help_reuse_time - the program itself measures its reuse times
 *
 * Sweeps over WORDS words again and again, so every word is used again after
 * one sweep. Prints the quartiles of a sweep's CPU time in ns, each sweep
 * weighted by its time, as a sample at a random moment finds it. Sweeps that
 * are much longer than the median were interrupted, and are left out.
 *
 *	help_reuse_time WORDS MILLISECONDS [SLEEP_MICROSECONDS]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	SWEEPS_MAX = 1 << 20,
	INTERRUPTED = 4, /* times the median */
};

static uint64_t took[SWEEPS_MAX];

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static __attribute__((noinline)) void sweep(const volatile uint64_t *word,
					    long words)
{
	for (long i = 0; i < words; i++)
		(void)word[i];
}

int main(int argc, char **argv)
{
	long words = argc > 1 ? atol(argv[1]) : 0;
	uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
	const struct timespec pause = {
		.tv_nsec = argc > 3 ? atol(argv[3]) * 1000 : 0
	};
	uint64_t *word = words > 0 ? calloc(words, sizeof(*word)) : NULL;
	uint64_t begin = cpu_ns(), last = begin, all = 0, sum = 0, quartile = 1;
	long n = 0;

	if (!word || !most)
		return 1;
	for (long i = 0; i < words; i++)
		word[i] = i;
	for (; n < SWEEPS_MAX && last - begin < most; n++) {
		uint64_t now;

		sweep(word, words);
		if (pause.tv_nsec)
			nanosleep(&pause, NULL);
		now = cpu_ns();
		took[n] = now - last;
		last = now;
	}
	qsort(took, n, sizeof(*took), compare);
	while (n && took[n - 1] > INTERRUPTED * took[n / 2])
		n--;
	for (long i = 0; i < n; i++)
		all += took[i];
	for (long i = 0; i < n; i++) {
		for (; quartile < 4 && sum + took[i] >= all / 4 * quartile;
		     quartile++)
			printf("%llu%c", (unsigned long long)took[i],
			       quartile < 3 ? ' ' : '\n');
		sum += took[i];
	}
	free(word);
	return 0;
}
