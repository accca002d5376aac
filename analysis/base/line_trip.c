/* SPDX-License-Identifier: MIT */
/*
 * line_trip - how long a cache line takes from one processor to another and
 * back
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "line_trip.h"

enum {
	PARTS = 5,
	PART = 300,   /* round trips of each */
	APART = 4096, /* bytes; no prefetcher reaches so far */
	GAME_NS = 20 * 1000 * 1000
};

struct player {
	uint64_t end; /* ns */
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void stay_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

bool two_processors(const cpu_set_t *all, int cpu[2])
{
	int n = 0;

	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, all))
			cpu[n++] = i;
	return n == 2;
}

/*
 * A ball that goes to and fro. Odd: the other thread has it; -1: the game is
 * over.
 */
static long ball __attribute__((aligned(APART)));

static bool wait_for(long wanted, uint64_t until)
{
	long at;

	while ((at = __atomic_load_n(&ball, __ATOMIC_ACQUIRE)) != wanted)
		if (at < 0 || now() > until)
			return false;
	return true;
}

static void *throw_back(void *arg)
{
	const struct player *p = arg;

	for (long i = 0; wait_for(2 * i + 1, p->end); i++)
		__atomic_store_n(&ball, 2 * i + 2, __ATOMIC_RELEASE);
	return NULL;
}

/*
 * A thread that begins on the processor @cpu: it could not go there by itself
 * while this one is busy, if both have real-time priority.
 */
static bool start_on(int cpu, pthread_t *thread, void *(*run)(void *arg),
		     void *arg)
{
	pthread_attr_t where;
	cpu_set_t one;
	bool good;

	if (pthread_attr_init(&where))
		return false;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	good = !pthread_attr_setaffinity_np(&where, sizeof(one), &one) &&
	       !pthread_create(thread, &where, run, arg);
	pthread_attr_destroy(&where);
	return good;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

bool line_round_trip(const int cpu[2], double *ns)
{
	struct player other = { .end = now() + GAME_NS };
	uint64_t begin, took[1 + PARTS] = { 0 }; /* the first: it arrives */
	pthread_t thread;
	bool good = true;
	long n = 0;

	stay_on(cpu[0]);
	ball = 0;
	if (!start_on(cpu[1], &thread, throw_back, &other))
		return false;
	for (int i = 0; i <= PARTS && good; i++) {
		begin = now();
		for (long end = n + PART; n < end && good; n++) {
			__atomic_store_n(&ball, 2 * n + 1, __ATOMIC_RELEASE);
			good = wait_for(2 * n + 2, other.end);
		}
		took[i] = now() - begin;
	}
	__atomic_store_n(&ball, -1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	qsort(took + 1, PARTS, sizeof(took[0]), compare);
	*ns = (double)took[1 + PARTS / 2] / PART;
	return good;
}
