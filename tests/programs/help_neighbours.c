/* SPDX-License-Identifier: MIT */
/*
 * help_neighbours - two threads count in small blocks that share a line
 *
 * usage: help_neighbours TIMES
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct counter {
	volatile uint64_t value;
	uint64_t times;
};

static void *count(void *arg)
{
	struct counter *c = arg;

	for (uint64_t i = 0; i < c->times; i++)
		c->value++;
	return NULL;
}

int main(int argc, char **argv)
{
	struct counter *c[4];
	pthread_t t[2];

	/* Blocks of 32 bytes: either the first two share a line, or the next.
	 */
	for (int i = 0; i < 4; i++) {
		c[i] = malloc(sizeof(*c[i]));
		c[i]->value = 0;
		c[i]->times = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	}
	printf("%p %p %p\n", (void *)c[0], (void *)c[1], (void *)c[2]);
	printf("%s\n", (uintptr_t)c[1] / 64 == (uintptr_t)c[2] / 64
			       ? "the same line"
			       : "different lines");
	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, count, c[1 + i]))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
