/* SPDX-License-Identifier: MIT */
/*
 * write_volume - one write an iteration, to a shared or to a private word
 *
 * Write-Volume of the ComDetective papers: the shared word is chosen with the
 * probability --sharing. All communication is true sharing, the same for every
 * pair of threads.
 *
 * With --op exchange each thread stores its number and sees whose number it
 * replaces, so the program itself counts how often the line changed hands.
 */
#include "expected.h"

static double sharing = 0.5;
static const char *op = "write";

static union {
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
} shared_data __attribute__((aligned(APART_BYTES)));

#define WRITE_LOOP(type, name, statement)                                      \
	static void name(struct worker *w)                                     \
	{                                                                      \
		uint64_t rng = w->rng, i, hits = 0, received = 0, r;           \
		uint64_t threshold = fraction_threshold(sharing);              \
		type me = (type)(w->id + 1), old = 0;                          \
		type *common = (type *)&shared_data;                           \
		type *mine = (type *)w->private_data;                          \
                                                                               \
		for (i = 0; !worker_done(w, i); i++) {                         \
			bool share = (r = rng_next(&rng)) < threshold;         \
			type *p = share ? common : mine;                       \
                                                                               \
			hits += share;                                         \
			statement;                                             \
			received += share && old && old != me;                 \
		}                                                              \
		w->iterations = i;                                             \
		w->shared = hits;                                              \
		w->received = received;                                        \
	}

#define WRITE_LOOPS(type, bits)                                                \
	WRITE_LOOP(type, write_##bits,                                         \
		   __atomic_store_n(p, (type)r, __ATOMIC_RELAXED))             \
	WRITE_LOOP(type, exchange_##bits,                                      \
		   old = __atomic_exchange_n(p, me, __ATOMIC_RELAXED))         \
	WRITE_LOOP(type, add_##bits,                                           \
		   __atomic_fetch_add(p, (type)r, __ATOMIC_RELAXED))

WRITE_LOOPS(uint8_t, 8)
WRITE_LOOPS(uint16_t, 16)
WRITE_LOOPS(uint32_t, 32)
WRITE_LOOPS(uint64_t, 64)

static const struct {
	const char *name;
	void (*loop[4])(struct worker *w); /* by log2 of the word's size */
} ops[] = {
	{ "write", { write_8, write_16, write_32, write_64 } },
	{ "exchange", { exchange_8, exchange_16, exchange_32, exchange_64 } },
	{ "add", { add_8, add_16, add_32, add_64 } },
};

static const struct option_row rows[] = {
	{ "sharing", OPT_DOUBLE, &sharing, "fraction of shared writes" },
	{ "op", OPT_STRING, &op, "write, exchange or add" },
	WORD_ROW,
	COMMON_ROWS,
	{ 0 }
};

int main(int argc, char **argv)
{
	static struct expected e = {
		.benchmark = "write-volume",
		.what = "every thread writes one shared word",
	};
	size_t i, n = sizeof(ops) / sizeof(*ops);
	long a, b;

	parse_options(argc, argv,
		      "Threads write a shared or a private word at random.",
		      rows);
	check_common(1);
	check_fraction("sharing", sharing);
	for (i = 0; i < n && strcmp(ops[i].name, op); i++)
		;
	if (i == n)
		usage_error("--op must be write, exchange or add");
	e.received = !strcmp(op, "exchange");
	run_workers(ops[i].loop[__builtin_ctzl((unsigned long)opt.word)]);

	expect_word(&e, "shared_data", &shared_data, opt.word, 0,
		    opt.threads - 1);
	for (a = 0; sharing > 0 && a < opt.threads; a++)
		for (b = a + 1; b < opt.threads; b++)
			e.cell[a][b].true_share = 1;
	return print_expected(&e);
}
