/* SPDX-License-Identifier: MIT */
/*
 * help_text - print text that is always the same and compresses like text
 *
 *	help_text MEGABYTES [SEED]
 *
 * Words of a made-up vocabulary, frequent ones short and often used, in lines
 * of some ten words. Every 16 words or so comes a number, so that no two
 * parts are alike.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	WORDS = 4096,
	WORD_BYTES = 12,
	MEGABYTE = 1 << 20
};

static char vocabulary[WORDS][WORD_BYTES + 1];
static uint64_t rng;

static uint64_t next_random(void)
{
	rng ^= rng >> 12;
	rng ^= rng << 25;
	rng ^= rng >> 27;
	return rng * 0x2545f4914f6cdd1du >> 32;
}

static void make_vocabulary(void)
{
	int i, k, length;

	for (i = 0; i < WORDS; i++) {
		length = 2 + (int)(next_random() % (unsigned int)(3 + i / 512));
		for (k = 0; k < length; k++)
			vocabulary[i][k] = (char)('a' + next_random() % 26);
	}
}

int main(int argc, char **argv)
{
	long bytes = argc > 1 ? atol(argv[1]) * MEGABYTE : 0, done = 0;
	long since_line = 0;

	if (bytes <= 0) {
		fprintf(stderr, "usage: help_text MEGABYTES [SEED]\n");
		return 2;
	}
	rng = 0x9e3779b97f4a7c15u * (argc > 2 ? strtoul(argv[2], NULL, 0) : 1);
	make_vocabulary();
	while (done < bytes) {
		/* the product of two uniform numbers favours small ones */
		uint64_t word = (next_random() % WORDS) *
				(next_random() % WORDS) / WORDS;
		int n = next_random() % 16
				? printf("%s", vocabulary[word])
				: printf("%u", (unsigned int)next_random());

		if (n < 0 || putchar(++since_line % 10 ? ' ' : '\n') == EOF)
			return 1;
		done += n + 1;
	}
	return putchar('\n') == EOF || fflush(stdout) ? 1 : 0;
}
