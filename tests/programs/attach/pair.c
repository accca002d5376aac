/* SPDX-License-Identifier: MIT */
/*
 * pair - two threads that add to words of one line, to one word, or apart
 *
 *   pair false|true|clean
 *
 * The tests link it statically too.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static _Alignas(64) unsigned long counters[32];

static void *add(void *word)
{
	for (;;)
		__atomic_fetch_add((unsigned long *)word, 1, __ATOMIC_RELAXED);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "false";
	int apart = !strcmp(mode, "true") ? 0 : !strcmp(mode, "clean") ? 16 : 1;
	pthread_t t;

	if (pthread_create(&t, NULL, add, &counters[apart]))
		return 1;
	puts("ready");
	fflush(stdout);
	add(&counters[0]);
}
