/* SPDX-License-Identifier: MIT */
/*
 * work - what all workloads have in common: options, threads, and the check
 *
 * A workload defines prepare(), work(id) for each of `threads` threads, and
 * check(). It executes roughly `size` million instructions. The main thread is
 * thread 0; with WORK_OPENMP it is alone, and makes teams of `threads`.
 */
#ifndef MICROBENCH_WORKLOADS_WORK_H
#define MICROBENCH_WORKLOADS_WORK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORK_THREADS_MAX = 64,
	WORK_SIZE_MAX = 10000,
};

static int threads = 4;
static long size = 5;

static void prepare(void);
static void work(int id);
static bool check(void);

static inline void *work_alloc(size_t n, size_t bytes)
{
	void *p = calloc(n, bytes);

	if (!p) {
		fputs("out of memory\n", stderr);
		exit(2);
	}
	return p;
}

/* A number that looks random, of @x alone. */
static inline uint64_t work_hash(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* The part of [0, n) that belongs to thread @id begins here. */
static inline long work_part(long n, int id)
{
	return n * id / threads;
}

static void *work_thread(void *id)
{
	work((int)(intptr_t)id);
	return NULL;
}

static inline void work_run(void)
{
	pthread_t t[WORK_THREADS_MAX];

#ifndef WORK_OPENMP
	for (int i = 1; i < threads; i++)
		if (pthread_create(&t[i], NULL, work_thread,
				   (void *)(intptr_t)i)) {
			fputs("cannot create a thread\n", stderr);
			exit(2);
		}
#endif
	work_thread(NULL);
#ifndef WORK_OPENMP
	for (int i = 1; i < threads; i++)
		pthread_join(t[i], NULL);
#endif
	(void)t;
}

static inline long work_option(const char *text, long max)
{
	char *end;
	long n = text ? strtol(text, &end, 10) : 0;

	if (!text || *end || n < 1 || n > max) {
		fprintf(stderr, "not a number from 1 to %ld: %s\n", max,
			text ? text : "nothing");
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--size"))
			size = work_option(argv[++i], WORK_SIZE_MAX);
		else if (!strcmp(argv[i], "--threads"))
			threads = (int)work_option(argv[++i], WORK_THREADS_MAX);
		else {
			fprintf(stderr,
				"usage: %s [--size MILLIONS] [--threads N]\n",
				argv[0]);
			return 2;
		}
	}
	prepare();
	work_run();
	if (!check()) {
		puts("the result is wrong");
		return 1;
	}
	puts("the result is right");
	return 0;
}

#endif
