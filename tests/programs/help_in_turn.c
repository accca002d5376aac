/* SPDX-License-Identifier: MIT */
/*
 * help_in_turn - threads that live one after the other, and share nothing
 *
 * usage: help_in_turn THREADS MILLISECONDS - each stores to its stack and to a
 * block of memory, which may be where those of the thread before it were, for
 * so much CPU time.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	WORDS = 64,
};

static double seconds;

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *work(void *arg)
{
	volatile uint64_t on_stack[WORDS];
	volatile uint64_t *block = malloc(sizeof(on_stack));

	while (block && cpu() < seconds)
		for (uint32_t i = 0; i < 100000; i++) {
			on_stack[i % WORDS] = i;
			block[i % WORDS] = i;
		}
	free((void *)block);
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: help_in_turn THREADS MILLISECONDS\n");
		return 2;
	}
	seconds = atoi(argv[2]) * 1e-3;
	for (int i = 0; i < atoi(argv[1]); i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, work, NULL) ||
		    pthread_join(thread, NULL))
			return 1;
	}
	return 0;
}
