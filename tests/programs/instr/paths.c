/* SPDX-License-Identifier: MIT */
/*
 * paths - uses and reuses whose call paths are known
 *
 *	paths KIND ROUNDS
 *
 * callers  touch, called by first and by way of another by second, in turns
 * deep     depths and callers in turns
 * depths   down touches a byte at each of a thousand depths
 * jumps    a jump out of three functions, then touch from a larger frame
 * procedures  put, which has nothing to do after its store
 * threads  two, each with bytes of its own, as callers
 *
 * Each byte of data is loaded once in a pass, but for jumps.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BYTES = 1000,
	THREADS = 2,
	ROOM = 2048,
};

/* Keep the function as it is written. */
#define APART __attribute__((noipa))

static volatile char data[THREADS][BYTES];
static jmp_buf landing;

APART static int touch(volatile char *p, int k)
{
	return p[k];
}

APART static int go_between(volatile char *p, int k)
{
	return touch(p, k) + 1;
}

APART static int first(volatile char *p)
{
	int sum = 0;

	for (int k = 0; k < BYTES; k++)
		sum += touch(p, k);
	return sum;
}

APART static int second(volatile char *p)
{
	int sum = 0;

	for (int k = 0; k < BYTES; k++)
		sum += go_between(p, k);
	return sum;
}

APART static int down(volatile char *p, int left)
{
	int here = p[left];

	return left ? down(p, left - 1) + here : here;
}

APART static int jump(void)
{
	longjmp(landing, 1);
	return 0;
}

APART static int jump_by(void)
{
	return jump() + 1;
}

APART static int jump_by_two(void)
{
	return jump_by() + 1;
}

/* Its frame covers those that the jump left. */
APART static int widely(volatile char *p, int k)
{
	volatile char room[ROOM];

	room[k] = k;
	return touch(p, k) + room[k];
}

APART static int land(volatile char *p, int k)
{
	if (!setjmp(landing))
		return jump_by_two();
	return widely(p, k);
}

APART static int callers(volatile char *p)
{
	return first(p) + second(p);
}

APART static int depths(volatile char *p)
{
	return down(p, BYTES - 1);
}

APART static int deep(volatile char *p)
{
	return depths(p) + callers(p);
}

APART static void put(volatile char *p, int k)
{
	p[k] = 1;
}

APART static void put_each(volatile char *p)
{
	for (int k = 0; k < BYTES; k++)
		put(p, k);
}

APART static int procedures(volatile char *p)
{
	put_each(p);
	return 1;
}

APART static int jumps(volatile char *p)
{
	int sum = 0;

	for (int k = 0; k < BYTES; k++)
		sum += land(p, k);
	return sum;
}

struct worker {
	pthread_t id;
	volatile char *p;
	long rounds;
	int sum;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	for (long i = 0; i < w->rounds; i++)
		w->sum += callers(w->p);
	return NULL;
}

static int threads(long rounds)
{
	struct worker w[THREADS];
	int sum = 0;

	for (int i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ .p = data[i], .rounds = rounds };
		if (pthread_create(&w[i].id, NULL, work, &w[i]))
			exit(1);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(w[i].id, NULL);
		sum += w[i].sum;
	}
	return sum;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(volatile char *p);
	} kinds[] = {
		{ "callers", callers },       { "deep", deep },
		{ "depths", depths },         { "jumps", jumps },
		{ "procedures", procedures },
	};
	long rounds = argc == 3 ? atol(argv[2]) : 0;
	int sum = 0;

	if (rounds > 0 && !strcmp(argv[1], "threads")) {
		printf("%d\n", threads(rounds));
		return 0;
	}
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		if (rounds <= 0 || strcmp(argv[1], kinds[k].name))
			continue;
		for (long i = 0; i < rounds; i++)
			sum += kinds[k].run(data[0]);
		printf("%d\n", sum);
		return 0;
	}
	fprintf(stderr, "usage: paths KIND ROUNDS\n");
	return 2;
}
