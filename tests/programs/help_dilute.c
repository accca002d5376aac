/* SPDX-License-Identifier: MIT */
/*
 * help_dilute - two threads share one line; few of their accesses go to it
 *
 * usage: help_dilute ONE_IN CPU_SECONDS - of each thread's accesses to memory,
 * stores all of them, one in ONE_IN goes to its own word of the common line,
 * the others to 64 lines of its own.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	THREADS = 2,
	LINES = 64,
	WORDS = 8,
};

static uint32_t one_in;
static double seconds;
static volatile uint64_t common[WORDS] __attribute__((aligned(64)));
static volatile uint64_t own[THREADS][LINES][WORDS]
	__attribute__((aligned(64)));

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *work(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg, left = one_in;

	while (cpu() < seconds) {
		for (uint32_t i = 0; i < 100000; i++) {
			if (--left) {
				own[id][i % LINES][0] = i;
			} else {
				left = one_in;
				common[id] = i;
			}
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	if (argc != 3) {
		fprintf(stderr, "usage: help_dilute ONE_IN CPU_SECONDS\n");
		return 2;
	}
	one_in = (uint32_t)atoi(argv[1]);
	seconds = atof(argv[2]);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
