// SPDX-License-Identifier: MIT
/*
 * help_padding - lines that padding cures, and a line that it does not
 *
 * Two threads run for SECONDS.
 *
 *	help_padding lock SECONDS	a spin lock and the counter that it
 *					protects, 8 bytes apart
 *	help_padding own SECONDS	two counters for each thread, side by
 *					side with those of the other one
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	THREADS = 2,
	ROUNDS = 1000, /* between two looks at the clock */
};

static _Alignas(64) _Atomic uint64_t word[8];
static uint64_t until;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void count(_Atomic uint64_t *w)
{
	atomic_store_explicit(w,
			      atomic_load_explicit(w, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

static void *lock(void *arg)
{
	while (now_ns() < until)
		for (int i = 0; i < ROUNDS; i++) {
			while (atomic_exchange_explicit(&word[0], 1,
							memory_order_acquire))
				;
			count(&word[1]);
			atomic_store_explicit(&word[0], 0,
					      memory_order_release);
		}
	return arg;
}

static void *own(void *arg)
{
	_Atomic uint64_t *mine = arg;

	while (now_ns() < until)
		for (int i = 0; i < ROUNDS; i++) {
			count(&mine[0]);
			count(&mine[1]);
		}
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];

	if (argc != 3)
		return 1;
	until = now_ns() + (uint64_t)(atof(argv[2]) * 1e9);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL,
				   strcmp(argv[1], "lock") ? own : lock,
				   (void *)&word[i * 2]))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	return 0;
}
