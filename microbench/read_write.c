/* SPDX-License-Identifier: MIT */
/*
 * read_write - one thread writes, the others read or write the same word
 *
 * Read-Write of the ComDetective papers: thread 0 always writes the shared
 * word; the others read it with the probability --reads and otherwise write it.
 * All communication is true sharing. With --reads 1 only the cells of thread 0
 * are not zero.
 */
#include "expected.h"

static double reads = 0.5;

static union {
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
} shared_data __attribute__((aligned(APART_BYTES)));

#define READ_WRITE_LOOP(type, name)                                            \
	static void name(struct worker *w)                                     \
	{                                                                      \
		uint64_t rng = w->rng, i, r;                                   \
		uint64_t threshold = w->id ? fraction_threshold(reads) : 0;    \
		volatile type *common = (volatile type *)&shared_data;         \
                                                                               \
		for (i = 0; !worker_done(w, i); i++) {                         \
			r = rng_next(&rng);                                    \
			if (r < threshold)                                     \
				(void)*common;                                 \
			else                                                   \
				*common = (type)r;                             \
		}                                                              \
		w->iterations = w->shared = i;                                 \
	}

READ_WRITE_LOOP(uint8_t, loop_8)
READ_WRITE_LOOP(uint16_t, loop_16)
READ_WRITE_LOOP(uint32_t, loop_32)
READ_WRITE_LOOP(uint64_t, loop_64)

static void (*const loops[])(struct worker *w) = { loop_8, loop_16, loop_32,
						   loop_64 };

static const struct option_row rows[] = {
	{ "reads", OPT_DOUBLE, &reads, "fraction of reads, threads 1 and on" },
	WORD_ROW,
	COMMON_ROWS,
	{ 0 }
};

static double writes_of(long thread)
{
	return thread ? 1 - reads : 1;
}

/*
 * Let w_j be the fraction of writes of thread j, and W_i the sum of w_j over
 * the others. With random interleaving, an access of i finds that another
 * thread has written the line since i last had it with probability W_i / (1 +
 * W_i), and that thread is j with probability w_j / W_i.
 */
static void fill_cells(struct expected *e)
{
	double all = 0;
	long a, b;

	for (a = 0; a < opt.threads; a++)
		all += writes_of(a);
	for (a = 0; a < opt.threads; a++)
		for (b = a + 1; b < opt.threads; b++)
			e->cell[a][b].true_share =
				writes_of(b) / (1 + all - writes_of(a)) +
				writes_of(a) / (1 + all - writes_of(b));
}

int main(int argc, char **argv)
{
	static struct expected e = {
		.benchmark = "read-write",
		.what = "thread 0 writes a word, the others read or write it",
	};

	parse_options(argc, argv, "One writer, the others read or write.",
		      rows);
	check_common(1);
	check_fraction("reads", reads);
	run_workers(loops[__builtin_ctzl((unsigned long)opt.word)]);

	expect_word(&e, "shared_data", &shared_data, opt.word, 0,
		    opt.threads - 1);
	fill_cells(&e);
	return print_expected(&e);
}
