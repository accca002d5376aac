// SPDX-License-Identifier: MIT
/*
 * help_committer - share a line for ever and print the committed detections
 *
 * Two threads store to words of one line. The main thread asks libcomdet.so how
 * many detections are committed to the file, and writes each new number to
 * standard output. The test kills this program.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "until_committed.h"

static _Alignas(64) volatile uint64_t words[8];

static void *store(void *arg)
{
	volatile uint64_t *word = arg;

	for (;;)
		++*word;
	return NULL;
}

int main(void)
{
	committed_function *count = committed();
	uint64_t last = 0, now;
	pthread_t thread;

	if (!count) {
		fprintf(stderr, "help_committer: libcomdet.so is missing\n");
		return 1;
	}
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, store, (void *)&words[i]))
			return 1;
	for (;;) {
		now = count();
		if (now != last)
			dprintf(STDOUT_FILENO, "%lu\n", (unsigned long)now);
		last = now;
		wait_a_moment();
	}
}
