/* SPDX-License-Identifier: MIT */
/*
 * point_to_point - threads communicate in pairs only
 *
 * Point-to-Point of the ComDetective papers: threads 2k and 2k + 1 write the
 * word of pair k, which has lines of its own, or a private word. Even pairs
 * take the shared word with the probability --sharing, odd pairs with one minus
 * that. All communication is true sharing; every cell outside the pairs is
 * zero.
 */
#include "expected.h"

static double sharing = 0.5;

static struct {
	char bytes[APART_BYTES];
} pair_data[THREADS_MAX / 2] __attribute__((aligned(APART_BYTES)));

static double pair_fraction(long pair)
{
	return pair % 2 ? 1 - sharing : sharing;
}

#define PAIR_LOOP(type, name)                                                  \
	static void name(struct worker *w)                                     \
	{                                                                      \
		uint64_t rng = w->rng, i, hits = 0, r;                         \
		uint64_t threshold =                                           \
			fraction_threshold(pair_fraction(w->id / 2));          \
		type *common = (type *)pair_data[w->id / 2].bytes;             \
		type *mine = (type *)w->private_data;                          \
                                                                               \
		for (i = 0; !worker_done(w, i); i++) {                         \
			bool share = (r = rng_next(&rng)) < threshold;         \
                                                                               \
			hits += share;                                         \
			__atomic_store_n(share ? common : mine, (type)r,       \
					 __ATOMIC_RELAXED);                    \
		}                                                              \
		w->iterations = i;                                             \
		w->shared = hits;                                              \
	}

PAIR_LOOP(uint8_t, loop_8)
PAIR_LOOP(uint16_t, loop_16)
PAIR_LOOP(uint32_t, loop_32)
PAIR_LOOP(uint64_t, loop_64)

static void (*const loops[])(struct worker *w) = { loop_8, loop_16, loop_32,
						   loop_64 };

static const struct option_row rows[] = {
	{ "sharing", OPT_DOUBLE, &sharing,
	  "fraction of shared writes in even pairs" },
	WORD_ROW,
	COMMON_ROWS,
	{ 0 }
};

int main(int argc, char **argv)
{
	static struct expected e = {
		.benchmark = "point-to-point",
		.what = "threads 0 and 1, 2 and 3, ... write a word of theirs",
	};
	long a;

	opt.threads = 4;
	parse_options(argc, argv, "Pairs of threads write a word of theirs.",
		      rows);
	check_common(2);
	if (opt.threads % 2)
		usage_error("--threads must be even");
	check_fraction("sharing", sharing);
	run_workers(loops[__builtin_ctzl((unsigned long)opt.word)]);

	for (a = 0; a < opt.threads; a += 2) {
		expect_word(&e, "pair_data", &pair_data[a / 2], opt.word, a,
			    a + 1);
		e.cell[a][a + 1].true_share = pair_fraction(a / 2);
	}
	return print_expected(&e);
}
