/* SPDX-License-Identifier: MIT */
/*
 * help_regions - two threads that fight in one region, and not in another
 *
 *   help_regions SECONDS [fork]
 *
 * In "fight" both store to their words of one line, in "peace" each to a line
 * of its own, inside "all"; then in no region to their own lines: each for this
 * CPU time of the first thread. With "fork" a child does this in the region
 * "parent" of its parent.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "src/base/comdet.h"

static struct {
	_Alignas(64) unsigned long word[8];
} line[4];
static pthread_barrier_t barrier;
static volatile int over;
static double seconds;

static void use(unsigned long *word, int leads)
{
	double until = (double)clock() / CLOCKS_PER_SEC + 2 * seconds;

	pthread_barrier_wait(&barrier);
	while (leads ? (double)clock() / CLOCKS_PER_SEC < until : !over)
		for (int i = 0; i < 1000; i++)
			__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
	over = 1;
	pthread_barrier_wait(&barrier);
	over = 0;
	pthread_barrier_wait(&barrier);
}

static void *run(void *arg)
{
	int me = arg != NULL;

	comdet_begin("all");
	comdet_begin("fight");
	use(&line[0].word[me], !me);
	comdet_end("fight");
	comdet_begin("peace");
	use(&line[1 + me].word[0], !me);
	comdet_begin("left open");
	comdet_end("all");
	use(&line[1 + me].word[0], !me);
	return NULL;
}

int main(int argc, char **argv)
{
	int status = 0;
	pthread_t t;

	seconds = argc > 1 ? atof(argv[1]) : 1;
	if (argc > 2 && !strcmp(argv[2], "fork")) {
		comdet_begin("parent");
		if (fork())
			return wait(&status) < 0 || status;
	}
	if (pthread_barrier_init(&barrier, NULL, 2) ||
	    pthread_create(&t, NULL, run, &barrier))
		return 1;
	run(NULL);
	pthread_join(t, NULL);
	puts(comdet_hook_begin ? "with" : "without");
	return 0;
}
