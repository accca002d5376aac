/* SPDX-License-Identifier: MIT */
/*
 * words - threads store to words a given distance apart
 *
 * These are the simplest cases: distance 0 is one word (true sharing), a
 * distance within the line is false sharing, and 64 or more is no
 * communication. With --read-only all threads read, and nothing is communicated
 * either.
 */
#include "expected.h"

enum {
	DATA_BYTES = 1 << 16
};

static long distance = 4;
static bool read_only;
static char data[DATA_BYTES] __attribute__((aligned(APART_BYTES)));

#define WORD_LOOP(type, bits)                                                  \
	static void store_##bits(struct worker *w)                             \
	{                                                                      \
		volatile type *word = (type *)(data + w->id * distance);       \
		uint64_t i;                                                    \
                                                                               \
		for (i = 0; !worker_done(w, i); i++)                           \
			*word = (type)i;                                       \
		w->iterations = i;                                             \
		w->shared = opt.threads > 1 && distance < LINE_BYTES ? i : 0;  \
	}                                                                      \
	static void load_##bits(struct worker *w)                              \
	{                                                                      \
		volatile type *word = (type *)(data + w->id * distance);       \
		uint64_t i;                                                    \
                                                                               \
		for (i = 0; !worker_done(w, i); i++)                           \
			(void)*word;                                           \
		w->iterations = i;                                             \
	}

WORD_LOOP(uint8_t, 8)
WORD_LOOP(uint16_t, 16)
WORD_LOOP(uint32_t, 32)
WORD_LOOP(uint64_t, 64)

static void (*const loops[2][4])(struct worker *w) = {
	{ store_8, store_16, store_32, store_64 },
	{ load_8, load_16, load_32, load_64 },
};

static const struct option_row rows[] = {
	{ "distance", OPT_LONG, &distance, "bytes from word to word" },
	{ "read-only", OPT_FLAG, &read_only, "load instead of storing" },
	{ "width", OPT_LONG, &opt.word, "bytes of a word: 1, 2, 4 or 8" },
	COMMON_ROWS,
	{ 0 }
};

static void fill_cells(struct expected *e)
{
	long a, b;

	for (a = 0; a < opt.threads; a++) {
		for (b = a + 1; b < opt.threads; b++) {
			long at_a = a * distance, at_b = b * distance;

			if (at_b < at_a + opt.word)
				e->cell[a][b].true_share = 1;
			else if (at_b / LINE_BYTES ==
				 (at_a + opt.word - 1) / LINE_BYTES)
				e->cell[a][b].false_share = 1;
		}
	}
}

int main(int argc, char **argv)
{
	static struct expected e = {
		.benchmark = "words",
		.what = "every thread stores to its own word",
	};
	long i;

	opt.word = 4;
	parse_options(argc, argv, "Threads store to words apart.", rows);
	check_common(1);
	if (distance < 0 || opt.threads * distance + opt.word > DATA_BYTES)
		usage_error("--distance must be 0 to %ld",
			    (DATA_BYTES - opt.word) / opt.threads);
	if (read_only)
		e.what = "every thread only loads";
	run_workers(loops[read_only][__builtin_ctzl((unsigned long)opt.word)]);

	for (i = 0; i < opt.threads; i++)
		expect_word(&e, "data", data + i * distance, opt.word, i, i);
	if (!read_only)
		fill_cells(&e);
	return print_expected(&e);
}
