/* SPDX-License-Identifier: MIT */
/*
 * test_line_time - the share of time at a line, from detections
 *
 * The oracle is the engine itself: threads whose samples lie on one line with a
 * known probability.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/attribution/line_time.h"
#include "src/engine/board.h"
#include "src/engine/comm.h"
#include "tests/run_suite.h"

enum {
	SLOTS = 127,
	PERIOD = 1000, /* ticks */
	PERIODS = 20000,
	THREADS_MAX = 4,
	LINE = 0x1000,
	ELSEWHERE = 0x90000
};

static double detections;

static void count(void *ctx, const struct detection *d)
{
	detections++;
}

static void ignore(void *ctx, enum loss_cause cause)
{
}

static const struct comm_sink sink = { count, ignore };

/* Thread @id samples a store, or a load unless it is a writer. */
static void sample(struct comm *c, struct comm_thread *t, uint32_t id,
		   bool at_line, bool writes, uint64_t now)
{
	struct access a = { .addr = at_line ? LINE + 8 * id
					    : ELSEWHERE + 4096 * id,
			    .len = 8,
			    .flags = writes ? ACCESS_STORE : ACCESS_LOAD };

	comm_sample(c, t, &a, now, id);
}

/* Detections by the board if @share of the samples is on the line. */
static double simulate(size_t threads, size_t writers, double share)
{
	void *mem = aligned_alloc(64, (board_size(SLOTS) + 63) / 64 * 64);
	struct comm c = { .board = board_init(mem, SLOTS, 64),
			  .sink = &sink,
			  .line_bytes = 64,
			  .chunk_bytes = 8,
			  .arm_one_in = 1 };
	struct comm_thread t[THREADS_MAX];
	uint64_t next[THREADS_MAX];
	struct rng rng;

	comm_set_expiry(&c, PERIOD);
	rng_seed(&rng, 1, 1);
	for (size_t i = 0; i < threads; i++) {
		comm_thread_init(&t[i], i, NULL, 1);
		next[i] = PERIOD + rng_below(&rng, PERIOD);
	}
	detections = 0;
	for (size_t n = 0; n < threads * PERIODS; n++) {
		size_t first = 0;

		for (size_t i = 1; i < threads; i++)
			if (next[i] < next[first])
				first = i;
		sample(&c, &t[first], first,
		       (double)rng_below(&rng, 1000000) < share * 1e6,
		       first < writers, next[first]);
		/* Interrupts come a little late. */
		next[first] += PERIOD + rng_below(&rng, PERIOD / 50);
	}
	free(mem);
	return detections;
}

static const struct {
	size_t threads, writers;
	double share;
} rows[] = {
	{ 2, 2, 1 },   { 2, 2, 0.8 }, { 2, 2, 0.5 }, { 2, 2, 0.3 },
	{ 2, 1, 0.9 }, { 2, 1, 0.5 }, { 4, 4, 0.8 }, { 4, 1, 0.5 },
};

START_TEST(the_share_of_the_samples_follows_from_detections)
{
	struct line_users u = { .threads = rows[_i].threads,
				.writers = rows[_i].writers,
				.periods = PERIODS };
	double n = simulate(u.threads, u.writers, rows[_i].share);
	double found = line_samples_share(&u, n);

	ck_assert_msg(
		found > rows[_i].share / 1.06 && found < rows[_i].share * 1.06,
		"row %d: %.0f detections, of share 1 %.0f: %.3f, not %.3f", _i,
		n, line_detections(&u, 1), found, rows[_i].share);
}
END_TEST

START_TEST(the_equation_is_inverted)
{
	struct line_users u = { .threads = 3, .writers = 2, .periods = 500 };

	for (double f = 0.01; f < 1; f += 0.01) {
		double n = line_detections(&u, f);

		ck_assert_double_eq_tol(line_samples_share(&u, n), f, 1e-6);
		ck_assert_double_gt(line_detections(&u, f + 0.01), n);
	}
	ck_assert_double_eq(line_samples_share(&u, 1e9), 1);
	ck_assert_double_eq(line_samples_share(&u, 0), 0);
}
END_TEST

START_TEST(more_detections_tell_the_time_more_exactly)
{
	struct line_users few = { .threads = 2, .writers = 2, .periods = 50 };
	struct line_users many = { .threads = 2,
				   .writers = 2,
				   .periods = 5000 };
	struct line_time a = line_time(&few, line_detections(&few, 0.6));
	struct line_time b = line_time(&many, line_detections(&many, 0.6));

	ck_assert_double_eq_tol(a.share, b.share, 1e-6);
	/* s is between 0.6 and 1. */
	ck_assert_double_eq_tol(a.share, 0.9, 1e-6);
	ck_assert_double_gt(a.error, b.error);
	ck_assert_double_ge(b.error, log(1 / 0.6) / 3);
	ck_assert(isinf(line_time(&few, 0).error));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("line_time");
	TCase *t = tcase_create("line_time");

	tcase_add_loop_test(t, the_share_of_the_samples_follows_from_detections,
			    0, sizeof(rows) / sizeof(rows[0]));
	tcase_add_test(t, the_equation_is_inverted);
	tcase_add_test(t, more_detections_tell_the_time_more_exactly);
	suite_add_tcase(s, t);
	return run_suite(s);
}
