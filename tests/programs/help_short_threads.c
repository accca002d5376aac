// SPDX-License-Identifier: MIT
/*
 * help_short_threads - threads of known lengths, and the CPU time of each kind
 *
 *	help_short_threads SECONDS [MS...]
 *
 * A long thread runs for SECONDS of CPU time, then threads of 20, 5, 2 and 1 ms
 * (or of MS) do, until each kind has run for SECONDS too. Prints "MS CPU_NS"
 * for each kind; the long thread's MS is 0. A thread's name is "MS ms".
 *
 * A virtual machine that its host holds up charges the wait to the thread that
 * runs, and no clock interrupts a thread meanwhile: seen up to 9 s, without a
 * word in /proc/stat. So a step of the work that takes far longer than it can
 * counts as STEP_NS.
 *
 *	help_short_threads pairs MS SECONDS
 *
 * Nothing but false sharing: pairs of threads of MS ms, SECONDS in total.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#define STEP_NS 1000000 /* a step takes 200 us or so */

static _Alignas(64) volatile uint64_t words[1024];
static uint64_t until, total; /* ns: of a thread, of all of a kind */

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Run for @until ns. The clock is a system call: seldom, 200 us or so apart. */
static __attribute__((noinline)) void *work(void *arg)
{
	volatile uint64_t *own = arg;
	uint64_t last = cpu_ns(), spent = 0;

	while (spent < until) {
		uint64_t now;

		for (int i = 0; i < 100000; i++)
			(*own)++;
		now = cpu_ns();
		spent += now - last < STEP_NS ? now - last : STEP_NS;
		last = now;
	}
	__atomic_fetch_add(&total, spent, __ATOMIC_RELAXED);
	return NULL;
}

static void *named(void *name)
{
	prctl(PR_SET_NAME, name);
	return work((void *)words);
}

static int run(uint64_t ms, uint64_t seconds)
{
	pthread_t t;
	char name[16];

	snprintf(name, sizeof(name), "%lu ms", ms);
	until = ms ? ms * 1000000 : seconds * 1000000000;
	total = 0;
	while (total < seconds * 1000000000)
		if (pthread_create(&t, NULL, named, name) ||
		    pthread_join(t, NULL))
			return 1;
	printf("%lu %lu\n", ms, total);
	return 0;
}

static int pairs(uint64_t ms, double seconds)
{
	pthread_t t[2];

	until = ms * 1000000;
	while (total < seconds * 1e9)
		for (int step = 0; step < 2; step++)
			for (int i = 0; i < 2; i++)
				if (step ? pthread_join(t[i], NULL)
					 : pthread_create(&t[i], NULL, work,
							  (void *)&words[i]))
					return 1;
	printf("%lu %lu\n", ms, total);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t seconds;

	if (argc == 4 && !strcmp(argv[1], "pairs"))
		return pairs(atol(argv[2]), atof(argv[3]));
	if (argc < 2)
		return 1;
	seconds = atol(argv[1]);
	if (argc > 2 && run(0, seconds))
		return 1;
	for (int i = 2; i < argc; i++)
		if (run(atol(argv[i]), seconds))
			return 1;
	if (argc > 2)
		return 0;
	return run(0, seconds) || run(20, seconds) || run(5, seconds) ||
	       run(2, seconds) || run(1, seconds);
}
