/* SPDX-License-Identifier: MIT */
/*
 * unbalanced - the main thread has twice the work of the others, which it
 * creates and joins again and again
 */
#define WORK_OPENMP /* it creates its threads itself */
#include "work.h"

enum {
	ROUNDS = 8,
};

static long turns; /* of the others in a round */
static uint64_t result[WORK_THREADS_MAX];

static void prepare(void)
{
	turns = size * 1000000 / (ROUNDS * (threads + 1) * 4);
}

/* The sum of the numbers below @n, one after the other. */
static uint64_t add(long n)
{
	uint64_t sum = 0;

	for (long i = 0; i < n; i++) {
		sum += (uint64_t)i;
		__asm__ volatile("" : "+r"(sum)); /* no closed form */
	}
	return sum;
}

static void *worker(void *to)
{
	*(uint64_t *)to += add(turns);
	return NULL;
}

static void work(int id)
{
	pthread_t t[WORK_THREADS_MAX];

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 1; i < threads; i++)
			if (pthread_create(&t[i], NULL, worker, &result[i]))
				exit(2);
		result[0] += add(2 * turns);
		for (int i = 1; i < threads; i++)
			pthread_join(t[i], NULL);
	}
}

static bool check(void)
{
	uint64_t n = (uint64_t)turns, sum = n * (n - 1) / 2;

	for (int i = 1; i < threads; i++)
		if (result[i] != ROUNDS * sum)
			return false;
	return result[0] == ROUNDS * (n * (2 * n - 1));
}
