/* SPDX-License-Identifier: MIT */
/*
 * help_callers - share a line between threads whose calls are known
 *
 *	help_callers SECONDS
 *
 * "left" always calls left_middle, which calls left_inner; "right" likewise,
 * and every other time memset of libc. Their bytes lie on one line. The program
 * ends when libcomdet.so has 30 detections, or after SECONDS.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "until_committed.h"

#define CALLED __attribute__((noinline))
/* Not the last thing that a function does: its calls are no jumps. */
#define STAY __asm__ volatile("" ::: "memory")

static _Alignas(64) char line[64];
static volatile int done;
static volatile size_t bytes = 24;

static CALLED void left_inner(volatile uint64_t *p)
{
	for (int i = 0; i < 50; i++)
		++*p;
	STAY;
}

static CALLED void left_middle(void)
{
	left_inner((volatile uint64_t *)line);
	STAY;
}

static CALLED void *left(void *arg)
{
	while (!done)
		left_middle();
	return NULL;
}

static CALLED void right_inner(volatile uint64_t *p)
{
	for (int i = 0; i < 50; i++)
		*p += 3; /* or it would be the same function as left_inner */
	STAY;
}

static CALLED void right_fill(void)
{
	for (int i = 0; i < 50; i++)
		memset(line + 40, i, bytes);
	STAY;
}

static CALLED void right_middle(int n)
{
	if (n & 1)
		right_fill();
	else
		right_inner((volatile uint64_t *)(line + 32));
	STAY;
}

static CALLED void *right(void *arg)
{
	for (int n = 0; !done; n++)
		right_middle(n);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	pthread_create(&thread[0], NULL, left, NULL);
	pthread_create(&thread[1], NULL, right, NULL);
	until_committed(30, argc > 1 ? atoi(argv[1]) : 10);
	done = 1;
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}
