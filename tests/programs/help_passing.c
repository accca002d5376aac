/* SPDX-License-Identifier: MIT */
/*
 * help_passing - two threads share a line and pass the turn through pipes
 *
 * usage: help_passing STORES CPU_SECONDS - the one whose turn it is stores so
 * often to its word of the line. It ends after about so much CPU time of both.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
	WORDS = 8,
	TURNS = 64, /* of a thread between two looks at the clock */
	LAST = 1,   /* what the last turn says */
};

static uint64_t stores;
static double seconds;
static int turn[2][2]; /* the pipe to each thread */
static volatile uint64_t common[WORDS] __attribute__((aligned(64)));

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *work(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg, turns = 0;
	char said = 0;

	while (said != LAST && read(turn[id][0], &said, 1) == 1) {
		for (uint64_t i = 0; i < stores; i++)
			common[id] = i;
		if (++turns % TURNS == 0 && cpu() >= seconds)
			said = LAST;
		if (write(turn[!id][1], &said, 1) != 1)
			exit(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	char said = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: help_passing STORES CPU_SECONDS\n");
		return 2;
	}
	stores = strtoull(argv[1], NULL, 10);
	seconds = atof(argv[2]);
	if (pipe(turn[0]) || pipe(turn[1]) ||
	    pthread_create(&thread, NULL, work, (void *)1) ||
	    write(turn[0][1], &said, 1) != 1)
		return 1;
	work(NULL);
	return pthread_join(thread, NULL) != 0;
}
