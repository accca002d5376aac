/* SPDX-License-Identifier: MIT */
/*
 * false_sharing - a programmed fraction of the communication is false sharing
 *
 * False-Sharing of the ComDetective papers: with the probability --false a
 * thread adds to its own word, which lies among the words of the other
 * threads; else it adds to one word that all share, on another line.
 *
 * Where all the words fit in one line, the false share of all communication
 * is --false. With more threads than words in a line, only threads whose
 * words are on the same line disturb each other, and the share is less.
 */
#include "expected.h"

static double false_fraction = 0.5;

static char false_data[THREADS_MAX * 8] __attribute__((aligned(APART_BYTES)));
static char true_data[APART_BYTES] __attribute__((aligned(APART_BYTES)));

#define ADD_LOOP(type, name)                                                   \
	static void name(struct worker *w)                                     \
	{                                                                      \
		uint64_t rng = w->rng, i, r;                                   \
		uint64_t threshold = fraction_threshold(false_fraction);       \
		type *common = (type *)true_data;                              \
		type *mine = (type *)false_data + w->id;                       \
                                                                               \
		for (i = 0; !worker_done(w, i); i++) {                         \
			r = rng_next(&rng);                                    \
			__atomic_fetch_add(r < threshold ? mine : common,      \
					   (type)r, __ATOMIC_RELAXED);         \
		}                                                              \
		w->iterations = w->shared = i;                                 \
	}

ADD_LOOP(uint8_t, add_8)
ADD_LOOP(uint16_t, add_16)
ADD_LOOP(uint32_t, add_32)
ADD_LOOP(uint64_t, add_64)

static void (*const loops[])(struct worker *w) = { add_8, add_16, add_32,
						   add_64 };

static const struct option_row rows[] = {
	{ "false", OPT_DOUBLE, &false_fraction, "fraction of false sharing" },
	WORD_ROW,
	COMMON_ROWS,
	{ 0 }
};

/*
 * An access is a transfer if another thread used the line since this thread's
 * previous access to it. With n threads on a line that is so for (n - 1) / n of
 * the accesses. So a pair gets 2 / (threads * n) of the accesses to that kind
 * of line.
 */
static void fill_cells(struct expected *e)
{
	long a, b, per_line = LINE_BYTES / opt.word;

	for (a = 0; a < opt.threads; a++) {
		long first = a / per_line * per_line;
		long n = opt.threads - first;

		if (n > per_line)
			n = per_line;
		for (b = a + 1; b < opt.threads; b++) {
			struct cell *c = &e->cell[a][b];

			c->true_share =
				(1 - false_fraction) / (double)opt.threads;
			if (b < first + n)
				c->false_share = false_fraction / (double)n;
		}
	}
}

int main(int argc, char **argv)
{
	static struct expected e = {
		.benchmark = "false-sharing",
		.what = "every thread adds to its own word of a line or to a "
			"word of all",
	};
	long i;

	parse_options(argc, argv,
		      "Threads add to neighbouring words or to a common one.",
		      rows);
	check_common(1);
	check_fraction("false", false_fraction);
	run_workers(loops[__builtin_ctzl((unsigned long)opt.word)]);

	expect_word(&e, "true_data", true_data, opt.word, 0, opt.threads - 1);
	for (i = 0; i < opt.threads; i++)
		expect_word(&e, "false_data", false_data + i * opt.word,
			    opt.word, i, i);
	fill_cells(&e);
	return print_expected(&e);
}
