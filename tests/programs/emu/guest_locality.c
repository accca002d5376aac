/* SPDX-License-Identifier: MIT */
/*
 * guest_locality - eight access patterns, and a hand-over between threads
 *
 *	guest_locality PATTERN THREADS ROUNDS
 *
 * Each thread has 256 KiB of its own, which it accesses in the given pattern.
 * "handover" has two threads: in turns, one stores to 64 lines and the other
 * loads them.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BYTES = 256 * 1024,
	DOUBLES = BYTES / 8,
	SIDE = 181, /* of a square of doubles */
	RECORD = 40,
	LINES = 64,
	THREADS_MAX = 64,
};

struct record {
	uint64_t key, count;
	uint8_t tag[24];
};
_Static_assert(sizeof(struct record) == RECORD, "not a line");

typedef void pattern(volatile char *data, uint64_t *random);

static long rounds;
static _Atomic int turn;
static volatile uint64_t handed[LINES * 8] __attribute__((aligned(64)));

static uint64_t draw(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void bytes(volatile char *data, uint64_t *random)
{
	for (long i = 0; i < BYTES; i++)
		data[i] = 1;
}

static void doubles(volatile char *data, uint64_t *random)
{
	volatile double *d = (void *)data;

	for (long i = 0; i < DOUBLES; i++)
		d[i] = 1;
}

static void backward(volatile char *data, uint64_t *random)
{
	volatile double *d = (void *)data;

	for (long i = DOUBLES - 1; i >= 0; i--)
		(void)d[i];
}

static void at_random(volatile char *data, uint64_t *random)
{
	volatile double *d = (void *)data;

	for (long i = 0; i < DOUBLES; i++)
		d[draw(random) % DOUBLES] = 1;
}

static void structs(volatile char *data, uint64_t *random)
{
	volatile struct record *r = (void *)data;

	for (long i = 0; i < BYTES / RECORD; i++)
		r[i].count = r[i].key + r[i].tag[i % 24];
}

static void columns(volatile char *data, uint64_t *random)
{
	volatile double *d = (void *)data;

	for (long x = 0; x < SIDE; x++)
		for (long y = 0; y < SIDE; y++)
			(void)d[y * SIDE + x];
}

static void stencil(volatile char *data, uint64_t *random)
{
	volatile double *d = (void *)data;

	for (long i = SIDE; i < SIDE * (SIDE - 1); i++)
		d[i] = d[i - SIDE] + d[i - 1] + d[i + 1] + d[i + SIDE];
}

/* Few places often, many places rarely. */
static void skewed(volatile char *data, uint64_t *random)
{
	volatile double *d = (void *)data;

	for (long i = 0; i < DOUBLES; i++) {
		uint64_t bits = draw(random) % 16;

		(void)d[draw(random) % ((uint64_t)DOUBLES >> bits)];
	}
}

static const struct {
	const char *name;
	pattern *run;
} patterns[] = {
	{ "bytes", bytes },       { "doubles", doubles },
	{ "backward", backward }, { "random", at_random },
	{ "structs", structs },   { "columns", columns },
	{ "stencil", stencil },   { "skewed", skewed },
};
enum {
	PATTERNS = sizeof(patterns) / sizeof(patterns[0])
};

static pattern *chosen;

static void *work(void *arg)
{
	uint64_t random = 88172645463325252ull + (uintptr_t)arg;
	volatile char *data = calloc(1, BYTES);

	if (!data)
		abort();
	for (long i = 0; i < rounds; i++)
		chosen(data, &random);
	return NULL;
}

/* A waiting thread only loads the turn. */
static void *hand_over(void *arg)
{
	int me = (int)(uintptr_t)arg;

	for (long i = 0; i < rounds; i++) {
		while (atomic_load(&turn) != me)
			;
		for (int line = 0; line < LINES; line++) {
			if (me)
				(void)handed[line * 8];
			else
				handed[line * 8] = (uint64_t)i;
		}
		atomic_store(&turn, !me);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	void *(*body)(void *) = work;
	long threads = argc > 2 ? atol(argv[2]) : 1;

	rounds = argc > 3 ? atol(argv[3]) : 10;
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (int i = 0; i < PATTERNS; i++)
			puts(patterns[i].name);
		return 0;
	}
	for (int i = 0; argc > 1 && i < PATTERNS; i++)
		if (!strcmp(argv[1], patterns[i].name))
			chosen = patterns[i].run;
	if (argc > 1 && !strcmp(argv[1], "handover")) {
		body = hand_over;
		threads = 2;
	} else if (!chosen || threads < 1 || threads > THREADS_MAX) {
		fprintf(stderr, "usage: %s PATTERN THREADS ROUNDS\n", argv[0]);
		return 2;
	}
	for (long i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, body, (void *)(uintptr_t)i);
	for (long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
