/* SPDX-License-Identifier: MIT */
/*
 * help_pause - store to a line that two threads share while it may be sampled
 *
 *   help_pause SECONDS
 *
 * Paused, two threads use line 0; resumed, line 1; paused again, line 2: each
 * for this CPU time of the first thread.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "src/base/comdet.h"

static _Alignas(64) struct {
	unsigned long word[8];
} before, between, after;
static unsigned long *volatile words;
static volatile int end;

static void *other(void *arg)
{
	while (!end)
		for (int i = 0; i < 1000; i++)
			__atomic_fetch_add(&words[1], 1, __ATOMIC_RELAXED);
	return NULL;
}

static void use(unsigned long *line, double seconds)
{
	double until = (double)clock() / CLOCKS_PER_SEC + 2 * seconds;

	words = line;
	while ((double)clock() / CLOCKS_PER_SEC < until)
		for (int i = 0; i < 1000; i++)
			__atomic_fetch_add(&line[0], 1, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	pthread_t t;

	words = before.word;
	comdet_pause();
	if (pthread_create(&t, NULL, other, NULL))
		return 1;
	use(before.word, seconds);
	comdet_resume();
	use(between.word, seconds);
	comdet_pause();
	use(after.word, seconds);
	end = 1;
	pthread_join(t, NULL);
	puts(comdet_hook_pause ? "with" : "without");
	return 0;
}
