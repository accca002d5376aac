/* SPDX-License-Identifier: MIT */
/*
 * help_two_lines - two threads race for two cache lines, and count transfers
 *
 *   help_two_lines SHARE SECONDS
 *
 * Each access goes to the first line with probability SHARE. A thread counts in
 * a word of its own and looks at the other's: if that has changed since its
 * last look, the line was transferred.
 *
 * Prints a line: accesses of the first line, of both, transfers of the first
 * line, of both.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	THREADS = 2,
	LINES = 2,
};

static struct line {
	_Alignas(64) _Atomic uint64_t word[THREADS];
} first_line, second_line;

static struct thread {
	_Alignas(64) uint64_t accesses[LINES], transfers[LINES];
	uint64_t number;
	pthread_t id;
} thread[THREADS];

static uint64_t limit; /* of 2^32: below, an access goes to the first line */
static atomic_bool over;

/*
 * Count in the own word, and look at the other's. A transfer: the other thread
 * has counted since the last look.
 */
static int use(struct line *at, uint64_t number, uint64_t *seen)
{
	_Atomic uint64_t *own = &at->word[number];
	uint64_t other;

	atomic_store_explicit(own, *own + 1, memory_order_relaxed);
	other = atomic_load_explicit(&at->word[!number], memory_order_relaxed);
	if (other == *seen)
		return 0;
	*seen = other;
	return 1;
}

static void *race(void *arg)
{
	struct thread *t = arg;
	uint64_t random = 88172645463325252u + t->number, seen[LINES] = { 0 };

	while (!atomic_load_explicit(&over, memory_order_relaxed)) {
		int k;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		k = random >> 32 >= limit;
		t->accesses[k]++;
		t->transfers[k] += use(k ? &second_line : &first_line,
				       t->number, &seen[k]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t accesses[LINES] = { 0 }, transfers[LINES] = { 0 };

	if (argc != 3) {
		fprintf(stderr, "usage: help_two_lines SHARE SECONDS\n");
		return 2;
	}
	limit = (uint64_t)(atof(argv[1]) * 4294967296.0);
	for (uint64_t i = 0; i < THREADS; i++) {
		thread[i].number = i;
		if (pthread_create(&thread[i].id, NULL, race, &thread[i]))
			return 1;
	}
	usleep((useconds_t)(atof(argv[2]) * 1e6));
	atomic_store(&over, 1);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i].id, NULL);
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < LINES; k++) {
			accesses[k] += thread[i].accesses[k];
			transfers[k] += thread[i].transfers[k];
		}
	printf("%lu %lu %lu %lu\n", accesses[0], accesses[0] + accesses[1],
	       transfers[0], transfers[0] + transfers[1]);
	return 0;
}
