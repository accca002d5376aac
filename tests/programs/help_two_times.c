/* SPDX-License-Identifier: MIT */
/*
 * help_two_times - two threads share one line early and another one late
 *
 *	help_two_times CPU_SECONDS
 *
 * In the first third of its CPU time each thread stores to a word of its own on
 * the line `early`, in the last third to the common word of the line `late`,
 * each time as often as to lines of its own; in between, to those only. So half
 * of the sharing is false, and half of it comes after a time without any. The
 * threads wait for each other between the thirds: on a busy machine one would
 * be done before the other begins, and nothing would be shared.
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
	STORES = 100000, /* between two looks at the clock */
};

static double seconds;
static pthread_barrier_t both;
static volatile uint64_t early[WORDS] __attribute__((aligned(64)));
static volatile uint64_t late[WORDS] __attribute__((aligned(64)));
static volatile uint64_t own[THREADS][LINES + 1][WORDS]
	__attribute__((aligned(64)));

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Store until this thread has used @until seconds of CPU time. */
static void use(double until, uint32_t id, volatile uint64_t *common)
{
	while (cpu() < until) {
		for (uint32_t i = 0; i < STORES; i += 2) {
			own[id][i / 2 % LINES][0] = i;
			*common = i;
		}
	}
}

static void *work(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg;

	pthread_barrier_wait(&both);
	use(seconds / 3, id, &early[id]);
	pthread_barrier_wait(&both);
	use(seconds * 2 / 3, id, own[id][LINES]);
	pthread_barrier_wait(&both);
	use(seconds, id, late);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	if (argc != 2) {
		fprintf(stderr, "usage: help_two_times CPU_SECONDS\n");
		return 2;
	}
	seconds = atof(argv[1]);
	pthread_barrier_init(&both, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
