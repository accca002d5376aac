/* SPDX-License-Identifier: MIT */
/*
 * help_watched - threads that share a line, for a debugger to come to
 *
 *	help_watched SECONDS
 *
 * Two threads store to their own halves of a line for so long, and the main
 * thread counts each tenth of a second in "watched".
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static struct {
	volatile uint64_t half[2];
} __attribute__((aligned(64))) line;
static _Atomic int over;
volatile int watched;

static void *store(void *arg)
{
	while (!atomic_load_explicit(&over, memory_order_relaxed))
		line.half[(uintptr_t)arg]++;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct timespec tenth = { 0, 100 * 1000 * 1000 };
	int seconds = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t t[2];

	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, store, (void *)i);
	for (int i = 0; i < 10 * seconds; i++) {
		nanosleep(&tenth, NULL);
		watched++;
	}
	atomic_store(&over, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", watched);
	return 3;
}
