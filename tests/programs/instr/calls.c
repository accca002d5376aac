/* SPDX-License-Identifier: MIT */
/*
 * calls - what help_callers does, a number of times
 *
 *	calls ROUNDS
 *	calls until SECONDS	what help_callers does
 */
#include <pthread.h>

int help_callers(int argc, char **argv);
#define main help_callers
#include "../help_callers.c"
#undef main

static int rounds;
static pthread_barrier_t start;

static CALLED void *first(void *arg)
{
	pthread_barrier_wait(&start);
	for (int n = 0; n < rounds; n++)
		left_middle();
	return NULL;
}

static CALLED void *second(void *arg)
{
	pthread_barrier_wait(&start);
	for (int n = 0; n < rounds; n++)
		right_middle(n);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	if (argc > 1 && !strcmp(argv[1], "until"))
		return help_callers(argc - 1, argv + 1);
	rounds = argc > 1 ? atoi(argv[1]) : 1000;
	pthread_barrier_init(&start, NULL, 2);
	pthread_create(&thread[0], NULL, first, NULL);
	pthread_create(&thread[1], NULL, second, NULL);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}
