/* SPDX-License-Identifier: MIT */
/*
 * help_partners - two threads share early, and two others late
 *
 *	help_partners SECONDS [killed]
 *
 * In the first third of the time threads 1 and 2 store to words of their own on
 * the line `early`, in the last third threads 3 and 4 to the common word of the
 * line `late`, each time as often as to lines of their own. In between threads
 * 1 and 4 store to those only. So two threads run at any time, each pair shares
 * in one third, one of them false and the other true, and between them there is
 * a third in which threads run and share nothing. Prints when each pair began
 * and ended to share: four times, ns of CLOCK_MONOTONIC. If it is to be killed,
 * it prints them and sends itself SIGKILL in the middle third.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	THREADS = 4,
	LINES = 64,
	WORDS = 8,
	STORES = 2000, /* between two looks at the clock */
};

static uint64_t third, start; /* ns */
static uint64_t began[THREADS], ended[THREADS];
static bool killed;
static pthread_barrier_t all;
static volatile uint64_t early[WORDS] __attribute__((aligned(64)));
static volatile uint64_t late[WORDS] __attribute__((aligned(64)));
static volatile uint64_t own[THREADS][LINES + 1][WORDS]
	__attribute__((aligned(64)));

static uint64_t ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Store until @thirds of the time are over. */
static void store(int thirds, uint32_t id, volatile uint64_t *common)
{
	while (ns() < start + (uint64_t)thirds * third) {
		for (uint32_t i = 0; i < STORES; i += 2) {
			own[id][i / 2 % LINES][0] = i;
			*common = i;
		}
	}
}

static void share(int thirds, uint32_t id, volatile uint64_t *common)
{
	began[id] = ns();
	store(thirds, id, common);
	ended[id] = ns();
}

static uint64_t lower(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t higher(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void print_times(void)
{
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	       lower(began[0], began[1]), higher(ended[0], ended[1]),
	       lower(began[2], began[3]), higher(ended[2], ended[3]));
	fflush(stdout);
}

static void *work(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg;

	if (id == 0 || id == 1)
		share(1, id, &early[id]);
	pthread_barrier_wait(&all);
	if (id == 0 || id == 3)
		store(2, id, own[id][LINES]);
	if (killed && id == 0) {
		began[2] = began[3] = ended[2] = ended[3] = ns();
		print_times();
		kill(getpid(), SIGKILL);
	}
	pthread_barrier_wait(&all);
	if (id == 2 || id == 3)
		share(3, id, late);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	killed = argc == 3 && !strcmp(argv[2], "killed");
	if (argc != 2 && !killed) {
		fprintf(stderr, "usage: help_partners SECONDS [killed]\n");
		return 2;
	}
	third = (uint64_t)(atof(argv[1]) * 1e9 / 3);
	start = ns();
	pthread_barrier_init(&all, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	print_times();
	return 0;
}
