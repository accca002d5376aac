/* SPDX-License-Identifier: MIT */
/*
 * share - two threads add to two counters on one cache line, for argv[1] ms
 *
 * The statement that shares is marked; the tests ask for its line.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static _Alignas(64) atomic_long counters[2];
static double seconds;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

static inline void count(atomic_long *mine)
{
	atomic_fetch_add(mine, 1); /* SHARED */
}

static void *work(void *mine)
{
	double end = now() + seconds;

	do {
		for (int i = 0; i < 100000; i++)
			count(mine);
	} while (now() < end);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	seconds = argc > 1 ? atof(argv[1]) / 1000 : 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, &counters[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("%d\n", counters[0] > 0 && counters[1] > 0);
	return 0;
}
