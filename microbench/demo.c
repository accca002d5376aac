/* SPDX-License-Identifier: MIT */
/*
 * demo - a small word counter that wastes time on its cache lines
 *
 * Threads take blocks of a generated text and count lines, words and letters.
 * Two things cost more than they should. The counters of all threads lie
 * next to each other in one array, so that counting in one thread takes the
 * line away from the others: false sharing. And every block is taken by an
 * atomic add to one common number, a few bytes of text at a time: true
 * sharing, which no padding cures but larger blocks do.
 */
#include "common.h"

enum {
	TEXT_BYTES = 1 << 20,
	BLOCK_BYTES = 16,
	BLOCKS_BETWEEN_LOOKS = 1024, /* blocks between two looks at the clock */
};

static double seconds = 4;
static long threads = 2;

struct counts {
	uint64_t lines, words, letters;
};

static char text[TEXT_BYTES] __attribute__((aligned(APART_BYTES)));
static struct counts counts[THREADS_MAX] __attribute__((aligned(APART_BYTES)));
static uint64_t next_block __attribute__((aligned(APART_BYTES)));
static uint64_t deadline __attribute__((aligned(APART_BYTES)));

static void fill_text(void)
{
	uint64_t rng = rng_seed(1, 0);
	int i;

	for (i = 0; i < TEXT_BYTES; i++) {
		uint64_t r = rng_next(&rng) >> 56;

		text[i] = r < 4 ? '\n' : r < 44 ? ' ' : (char)('a' + r % 26);
	}
}

__attribute__((noinline)) static void count_block(struct counts *c,
						  const char *block)
{
	bool in_word = false;
	int i;

	for (i = 0; i < BLOCK_BYTES; i++) {
		if (block[i] >= 'a') {
			c->letters++;
			in_word = true;
			continue;
		}
		c->words += in_word;
		c->lines += block[i] == '\n';
		in_word = false;
	}
}

__attribute__((noinline)) static uint64_t take_block(void)
{
	return __atomic_fetch_add(&next_block, 1, __ATOMIC_RELAXED);
}

static void *count_words(void *arg)
{
	struct counts *c = arg;
	uint64_t taken = 0, block;

	while (++taken % BLOCKS_BETWEEN_LOOKS || now_ns() < deadline) {
		block = take_block() % (TEXT_BYTES / BLOCK_BYTES);
		count_block(c, text + block * BLOCK_BYTES);
	}
	return NULL;
}

static const struct option_row rows[] = {
	{ "threads", OPT_LONG, &threads, "number of threads" },
	{ "seconds", OPT_DOUBLE, &seconds, "how long to count" },
	{ 0 }
};

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	struct counts all = { 0 };
	long i;

	parse_options(argc, argv, "Threads count words, not very well.", rows);
	if (threads < 1 || threads > THREADS_MAX)
		usage_error("--threads must be 1 to %d", THREADS_MAX);
	fill_text();
	deadline = now_ns() + (uint64_t)(seconds * 1e9);
	for (i = 0; i < threads; i++) {
		if (pthread_create(&thread[i], NULL, count_words, &counts[i])) {
			fprintf(stderr, "%s: cannot create a thread\n",
				program);
			return 1;
		}
		pthread_setname_np(thread[i], "counter");
	}
	for (i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		all.lines += counts[i].lines;
		all.words += counts[i].words;
		all.letters += counts[i].letters;
	}
	printf("%llu lines, %llu words, %llu letters in %.0f s\n",
	       (unsigned long long)all.lines, (unsigned long long)all.words,
	       (unsigned long long)all.letters, seconds);
	return 0;
}
