/* SPDX-License-Identifier: MIT */
/*
 * expected - the answer that a microbenchmark expects of a profiler
 *
 * The communication of a microbenchmark is known in advance. After the run it
 * prints which cells of the communication matrix must be zero, how the others
 * should compare, how much of the whole is true and how much false sharing, and
 * where the shared words are. With --json it prints one line for a test to
 * read.
 *
 * "Expected" is exact about zeros and about true and false. The shares of cells
 * come from a model in which the threads' accesses interleave at random;
 * hardware favours the core that has a line, so they are a guide.
 */
#ifndef MICROBENCH_EXPECTED_H
#define MICROBENCH_EXPECTED_H

#include "common.h"

enum {
	WORDS_MAX = 2 * THREADS_MAX
};

/* A pair of threads that communicates: shares of all transfers, by kind. */
struct cell {
	double true_share, false_share;
};

/* A shared word, for the expected answer. */
struct shared_word {
	const char *name;
	const volatile void *addr;
	long bytes;
	long first, last; /* the threads that use it */
};

struct expected {
	const char *benchmark;
	const char *what; /* one sentence for people */
	double true_share, false_share;
	struct cell cell[THREADS_MAX][THREADS_MAX]; /* a < b; sum is 1 or 0 */
	struct shared_word shared[WORDS_MAX];
	long shared_words;
	bool received; /* workers count what they receive */
};

static inline void expect_word(struct expected *e, const char *name,
			       const volatile void *addr, long bytes,
			       long first, long last)
{
	if (e->shared_words == WORDS_MAX)
		return;
	e->shared[e->shared_words++] = (struct shared_word){ .name = name,
							     .addr = addr,
							     .bytes = bytes,
							     .first = first,
							     .last = last };
}

/* Scale the cells to a sum of 1, and sum true and false. */
static inline void expect_normalize(struct expected *e)
{
	double sum = 0;
	long a, b;

	for (a = 0; a < opt.threads; a++)
		for (b = a + 1; b < opt.threads; b++)
			sum += e->cell[a][b].true_share +
			       e->cell[a][b].false_share;
	e->true_share = e->false_share = 0;
	if (sum <= 0)
		return;
	for (a = 0; a < opt.threads; a++) {
		for (b = a + 1; b < opt.threads; b++) {
			e->cell[a][b].true_share /= sum;
			e->cell[a][b].false_share /= sum;
			e->true_share += e->cell[a][b].true_share;
			e->false_share += e->cell[a][b].false_share;
		}
	}
}

static inline unsigned long long line_of(const volatile void *addr)
{
	return (unsigned long long)(uintptr_t)addr & ~(LINE_BYTES - 1ull);
}

static inline void print_json(const struct expected *e)
{
	const char *sep = "";
	long a, b, i;

	printf("{\"benchmark\": \"%s\", \"threads\": [", e->benchmark);
	for (i = 0; i < opt.threads; i++) {
		printf("%s{\"id\": %ld, \"tid\": %ld, \"iterations\": %llu, "
		       "\"shared\": %llu",
		       i ? ", " : "", i, workers[i].tid,
		       (unsigned long long)workers[i].iterations,
		       (unsigned long long)workers[i].shared);
		if (e->received)
			printf(", \"received\": %llu",
			       (unsigned long long)workers[i].received);
		printf("}");
	}
	printf("], \"words\": [");
	for (i = 0; i < e->shared_words; i++)
		printf("%s{\"name\": \"%s\", \"address\": \"0x%llx\", "
		       "\"line\": \"0x%llx\", \"bytes\": %ld, "
		       "\"first\": %ld, \"last\": %ld}",
		       i ? ", " : "", e->shared[i].name,
		       (unsigned long long)(uintptr_t)e->shared[i].addr,
		       line_of(e->shared[i].addr), e->shared[i].bytes,
		       e->shared[i].first, e->shared[i].last);
	printf("], \"expected\": {\"true\": %.6f, \"false\": %.6f, "
	       "\"cells\": [",
	       e->true_share, e->false_share);
	for (a = 0; a < opt.threads; a++) {
		for (b = a + 1; b < opt.threads; b++) {
			const struct cell *c = &e->cell[a][b];

			if (c->true_share + c->false_share <= 0)
				continue;
			printf("%s{\"a\": %ld, \"b\": %ld, \"true\": %.6f, "
			       "\"false\": %.6f}",
			       sep, a, b, c->true_share, c->false_share);
			sep = ", ";
		}
	}
	printf("]}}\n");
}

static inline void print_text(const struct expected *e)
{
	long a, b, i;

	printf("%s: %s\n", e->benchmark, e->what);
	for (i = 0; i < opt.threads; i++)
		printf("  thread %ld (tid %ld): %llu iterations, "
		       "%llu on shared words\n",
		       i, workers[i].tid,
		       (unsigned long long)workers[i].iterations,
		       (unsigned long long)workers[i].shared);
	for (i = 0; i < e->shared_words; i++)
		printf("  word %s at 0x%llx (%ld bytes, line 0x%llx): "
		       "threads %ld to %ld\n",
		       e->shared[i].name,
		       (unsigned long long)(uintptr_t)e->shared[i].addr,
		       e->shared[i].bytes, line_of(e->shared[i].addr),
		       e->shared[i].first, e->shared[i].last);
	if (e->true_share + e->false_share <= 0) {
		printf("expected: no communication\n");
		return;
	}
	printf("expected: %.1f %% true sharing, %.1f %% false sharing\n",
	       100 * e->true_share, 100 * e->false_share);
	printf("expected shares of the matrix, cells not listed are zero:\n");
	for (a = 0; a < opt.threads; a++)
		for (b = a + 1; b < opt.threads; b++)
			if (e->cell[a][b].true_share +
				    e->cell[a][b].false_share >
			    0)
				printf("  %ld-%ld  %5.1f %% true  "
				       "%5.1f %% false\n",
				       a, b, 100 * e->cell[a][b].true_share,
				       100 * e->cell[a][b].false_share);
}

static inline int print_expected(struct expected *e)
{
	expect_normalize(e);
	if (opt.json)
		print_json(e);
	else
		print_text(e);
	return fflush(stdout) || ferror(stdout) ? 1 : 0;
}

#endif
