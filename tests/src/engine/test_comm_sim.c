/* SPDX-License-Identifier: MIT */
/*
 * test_comm_sim - the map against patterns whose sharing is known
 *
 * comm_sim.h asserts for each detection that its store was sampled by another
 * thread, that both accesses are on the line, and that its kind agrees with the
 * bytes. This file has claims about the whole map.
 *
 * plain only: the claims are about sums over millions of accesses. test_comm
 * and test_comm_watch take the same paths under AddressSanitizer.
 */
#include <check.h>
#include <errno.h>
#include <math.h>

#include "src/base/interval.h"
#include "comm_sim.h"
#include "tests/run_suite.h"

/* Does this access go to what is the thread's own? Then it is made up. */
static bool goes_private(struct sim *s, uint32_t thread, struct access *a)
{
	if (rng_below(&s->rng, 100) < s->shared)
		return false;
	sim_private(s, thread, a);
	return true;
}

static uint32_t load_or_store(struct sim *s)
{
	return rng_below(&s->rng, 2) ? ACCESS_LOAD : ACCESS_STORE;
}

/* Threads 0 and 1, 2 and 3, ... have a line each, and a word in it each. */
static void own_words(struct sim *s, uint32_t thread, struct access *a)
{
	if (goes_private(s, thread, a))
		return;
	a->addr = 0x1000 + thread / 2 * SIM_LINE + thread % 2 * 8;
	a->flags = load_or_store(s);
}

/* The same, and both use the same word. */
static void same_word(struct sim *s, uint32_t thread, struct access *a)
{
	if (goes_private(s, thread, a))
		return;
	a->addr = 0x1000 + thread / 2 * SIM_LINE + 16;
	a->flags = load_or_store(s);
}

static void padded_words(struct sim *s, uint32_t thread, struct access *a)
{
	if (goes_private(s, thread, a))
		return;
	a->addr = 0x1000 + thread * 2 * SIM_LINE;
	a->flags = load_or_store(s);
}

/* A table that all read; what they store is their own. */
static void shared_table(struct sim *s, uint32_t thread, struct access *a)
{
	if (goes_private(s, thread, a))
		return;
	a->addr = 0x1000 + rng_below(&s->rng, 100) * 8;
	a->flags = ACCESS_LOAD;
}

/* Pairs, and one access in 400 to a line that everybody stores to. */
static void pairs_and_a_lock(struct sim *s, uint32_t thread, struct access *a)
{
	own_words(s, thread, a);
	if (rng_below(&s->rng, 400) == 0) {
		a->addr = 0x900000;
		a->flags = ACCESS_LOAD | ACCESS_STORE | ACCESS_LOCKED;
	}
}

/* Neighbours in a ring share a line, each with a word of its own. */
static void ring(struct sim *s, uint32_t thread, struct access *a)
{
	uint32_t right = thread;
	uint32_t left = (thread + s->threads - 1) % s->threads;
	uint32_t edge = rng_below(&s->rng, 2) ? right : left;

	if (goes_private(s, thread, a))
		return;
	a->addr = 0x1000 + edge * SIM_LINE + (edge == thread ? 0 : 8);
	a->flags = load_or_store(s);
}

/* Eight threads, eight words of one line. */
static void one_line(struct sim *s, uint32_t thread, struct access *a)
{
	if (goes_private(s, thread, a))
		return;
	a->addr = 0x1000 + thread % 8 * 8;
	a->flags = ACCESS_STORE;
}

/*
 * Two threads store to a common word with s->common %, else to their own. They
 * only read what is private, so that nothing else is published.
 */
static void common_or_own(struct sim *s, uint32_t thread, struct access *a)
{
	bool own = rng_below(&s->rng, 100) >= s->common;

	if (goes_private(s, thread, a)) {
		a->flags = ACCESS_LOAD;
		return;
	}
	a->addr = 0x1000 + (own ? 8 + thread * 8 : 0);
	a->flags = ACCESS_STORE;
}

/* Both in the same 8-byte chunk, at different bytes. */
static void halves_of_a_word(struct sim *s, uint32_t thread, struct access *a)
{
	a->len = 4;
	if (goes_private(s, thread, a))
		return;
	a->addr = 0x1000 + thread * 4;
	a->flags = ACCESS_STORE;
}

/* 0.999 quantile of chi-square (Wilson and Hilferty). */
static double chi_square_limit(double freedom)
{
	double t = 1 - 2 / (9 * freedom) + 3.09 * sqrt(2 / (9 * freedom));

	return freedom * t * t * t;
}

/* 3.3 standard deviations: off by chance in one of a thousand. */
static void assert_share(double hits, double trials, double share)
{
	ck_assert_double_eq_tol(hits, trials * share,
				3.3 * sqrt(trials * share * (1 - share)));
}

static const uint32_t thread_counts[] = { 2, 8, 64 };

START_TEST(padded_words_give_nothing)
{
	struct sim *s = sim_new(padded_words, thread_counts[_i], 300, 1);

	s->shared = 50;
	sim_run(s, 2000000);
	ck_assert_uint_gt(sim_samples(s), 6000);
	ck_assert_uint_gt(s->arms, 500);
	ck_assert_uint_eq(s->pairs, 0);
	sim_free(s);
}
END_TEST

START_TEST(read_only_sharing_gives_nothing)
{
	struct sim *s = sim_new(shared_table, thread_counts[_i], 300, 2);

	s->shared = 50;
	sim_run(s, 2000000);
	ck_assert_uint_gt(s->arms, 500);
	ck_assert_uint_eq(s->pairs, 0);
	sim_free(s);
}
END_TEST

START_TEST(a_single_thread_gives_nothing)
{
	struct sim *s = sim_new(own_words, 1, 300, 3);

	s->shared = 50;
	sim_run(s, 1000000);
	ck_assert_uint_gt(sim_samples(s), 3000);
	ck_assert_uint_eq(s->pairs, 0);
	ck_assert_uint_eq(s->arms, 0);
	sim_free(s);
}
END_TEST

START_TEST(words_of_their_own_are_false_sharing)
{
	struct sim *s = sim_new(own_words, thread_counts[_i], 500, 4);
	uint64_t all;

	s->shared = 50;
	sim_run(s, 6000000);
	all = s->pairs;
	ck_assert_uint_gt(all, 1000);
	ck_assert_uint_ge(sim_kind(s, SHARING_FALSE) * 100, all * 99);
	ck_assert_uint_gt(sim_by(s, SHARING_FALSE, DETECTED_BY_TRAP), 0);
	sim_free(s);
}
END_TEST

START_TEST(one_word_is_true_sharing)
{
	struct sim *s = sim_new(same_word, thread_counts[_i], 500, 5);

	s->shared = 50;
	s->inexact = true;
	sim_run(s, 6000000);
	ck_assert_uint_gt(s->pairs, 1000);
	ck_assert_uint_ge(sim_kind(s, SHARING_TRUE) * 100, s->pairs * 99);
	ck_assert_uint_eq(s->lost[LOSS_TRAP_INEXACT],
			  sim_by(s, SHARING_TRUE, DETECTED_BY_TRAP));
	sim_free(s);
}
END_TEST

START_TEST(an_unknown_trapping_access_misjudges_inside_a_chunk)
{
	struct sim *known = sim_new(halves_of_a_word, 2, 500, 6);
	struct sim *unknown = sim_new(halves_of_a_word, 2, 500, 6);

	known->shared = unknown->shared = 20;
	unknown->inexact = true;
	sim_run(known, 3000000);
	sim_run(unknown, 3000000);
	ck_assert_uint_gt(sim_by(known, SHARING_FALSE, DETECTED_BY_TRAP), 50);
	ck_assert_uint_eq(sim_kind(known, SHARING_TRUE), 0);
	ck_assert_uint_eq(sim_by(unknown, SHARING_TRUE, DETECTED_BY_BOARD), 0);
	ck_assert_uint_gt(sim_by(unknown, SHARING_TRUE, DETECTED_BY_TRAP), 50);
	sim_free(known);
	sim_free(unknown);
}
END_TEST

START_TEST(off_pair_cells_stay_below_3_percent)
{
	struct sim *s = sim_new(pairs_and_a_lock, 4, 500, 7 + _i);
	uint64_t pair, off;

	s->shared = 50;
	sim_run(s, 6000000);
	pair = sim_both(s, 0, 1) + sim_both(s, 2, 3);
	off = s->pairs - pair;
	ck_assert_uint_gt(pair, 1000);
	ck_assert_uint_lt(off * 100, pair * 3);
	assert_share(sim_both(s, 0, 1), pair, 0.5);
	sim_free(s);
}
END_TEST

START_TEST(both_directions_of_a_pair_are_equally_frequent)
{
	struct sim *s = sim_new(own_words, 2, 500, 11);
	uint64_t forth = 0;

	s->shared = 80;
	sim_run(s, 4000000);
	for (int kind = 0; kind < SHARING_KINDS; kind++)
		for (int by = 0; by < DETECTED_BY_KINDS; by++)
			forth += s->cell[0][1][kind][by];
	ck_assert_uint_gt(s->pairs, 1000);
	assert_share(forth, s->pairs, 0.5);
	sim_free(s);
}
END_TEST

START_TEST(cells_of_a_ring_of_64_agree_with_the_generator)
{
	struct sim *s = sim_new(ring, 64, 400, 12);
	double chi_square = 0, mean;
	uint64_t on_ring = 0;
	int covered = 0;

	s->shared = 60;
	sim_run(s, 15000000);
	mean = s->pairs / 64.0;
	ck_assert_double_gt(mean, 30);
	for (uint32_t i = 0; i < 64; i++) {
		uint64_t n = sim_both(s, i, (i + 1) % 64);
		struct interval share = interval_share(n, s->pairs);

		on_ring += n;
		chi_square += (n - mean) * (n - mean) / mean;
		covered += share.low <= 1 / 64. && 1 / 64. <= share.high;
	}
	ck_assert_uint_eq(on_ring, s->pairs);
	ck_assert_double_lt(chi_square, chi_square_limit(63));
	ck_assert_int_ge(covered, 57); /* of 64; fewer once in 200 */
	sim_free(s);
}
END_TEST

/* No thread is always the publisher. */
START_TEST(eight_threads_on_one_line_have_equal_cells)
{
	struct sim *s = sim_new(one_line, 8, 500, 13);
	double chi_square = 0, mean;

	s->shared = 80;
	sim_run(s, 10000000);
	mean = s->pairs / 28.0;
	ck_assert_double_gt(mean, 100);
	for (uint32_t a = 0; a < 8; a++) {
		for (uint32_t b = a + 1; b < 8; b++) {
			double off = sim_both(s, a, b) - mean;

			chi_square += off * off / mean;
		}
	}
	ck_assert_double_lt(chi_square, chi_square_limit(27));
	sim_free(s);
}
END_TEST

/*
 * The probability that both choose the common word is q^2. A watch of the
 * whole line traps on the first access, whatever it is: q again.
 */
START_TEST(true_share_agrees_where_no_line_is_half_watched)
{
	static const int percent[] = { 10, 30, 50, 70, 90 };
	double q = percent[_i % 5] / 100.0;
	struct sim *s = sim_new(common_or_own, 2, 200, 14 + _i);

	s->shared = 100;
	s->common = percent[_i % 5];
	s->comm.registers = _i < 5 ? 0 : 1;
	s->comm.chunk_bytes = SIM_LINE;
	sim_run(s, 4000000);
	ck_assert_uint_gt(s->pairs, 1000);
	assert_share(sim_kind(s, SHARING_TRUE), s->pairs, q * q);
	sim_free(s);
}
END_TEST

/*
 * Watching four of eight chunks is different: the access that traps is the
 * first on a watched chunk. Of the two words that a thread uses both are
 * watched with 4/8 x 3/7, exactly the common one with 4/8 x 4/7.
 */
START_TEST(half_watched_lines_have_the_bias_of_the_closed_form)
{
	static const int percent[] = { 10, 30, 70 };
	double q = percent[_i] / 100.0, both = 3 / 14., one = 4 / 14.;
	double common = (both * q + one) / (both + 2 * one);
	struct sim *s = sim_new(common_or_own, 2, 200, 24 + _i);
	uint64_t traps, true_traps;

	s->shared = 5;
	s->common = percent[_i];
	s->comm.watch_expiry = 8000; /* long enough for any word */
	sim_run(s, 10000000);
	true_traps = sim_by(s, SHARING_TRUE, DETECTED_BY_TRAP);
	traps = true_traps + sim_by(s, SHARING_FALSE, DETECTED_BY_TRAP);
	ck_assert_uint_gt(traps, 1000);
	assert_share(true_traps, traps, q * common);
	sim_free(s);
}
END_TEST

START_TEST(clocks_that_disagree_do_not_change_the_map)
{
	struct sim *even = sim_new(ring, 8, 500, 30);
	struct sim *skewed = sim_new(ring, 8, 500, 30);

	even->shared = skewed->shared = 60;
	for (uint32_t i = 0; i < 8; i++)
		skewed->thread[i].skew = (int64_t)(i * 37 % 8) * 100 - 400;
	sim_run(even, 6000000);
	sim_run(skewed, 6000000);
	ck_assert_uint_gt(even->pairs, 1000);
	ck_assert_double_eq_tol(skewed->pairs / (double)even->pairs, 1, 0.1);
	for (uint32_t i = 0; i < 8; i++)
		assert_share(sim_both(skewed, i, (i + 1) % 8), skewed->pairs,
			     1 / 8.);
	sim_free(even);
	sim_free(skewed);
}
END_TEST

START_TEST(traps_find_sharing_that_the_board_hardly_sees)
{
	struct sim *with = sim_new(own_words, 2, 500, 31);
	struct sim *without = sim_new(own_words, 2, 500, 31);

	with->shared = without->shared = 3;
	without->comm.registers = 0;
	sim_run(with, 20000000);
	sim_run(without, 20000000);
	ck_assert_uint_gt(with->pairs, 3 * without->pairs);
	ck_assert_uint_gt(with->pairs, 100);
	sim_free(with);
	sim_free(without);
}
END_TEST

/*
 * Threads 2 and 3 run at a tenth of the speed of 0 and 1 and share in the
 * same way: 1 / 11 of what goes on. With an expiry by the clock alone they
 * would get less than half of that.
 */
START_TEST(slow_threads_keep_their_place_on_the_map)
{
	struct sim *s = sim_new(own_words, 4, 500, 32);
	double slow;

	s->shared = 40;
	s->thread[0].rate = s->thread[1].rate = 10;
	sim_run(s, 20000000);
	slow = sim_both(s, 2, 3) / (double)s->pairs;
	ck_assert_uint_gt(s->pairs, 2000);
	ck_assert_double_ge(slow, 0.065);
	ck_assert_double_le(slow, 0.13);
	sim_free(s);
}
END_TEST

START_TEST(threads_that_run_at_long_stretches_are_still_seen)
{
	struct sim *s = sim_new(own_words, 4, 500, 33);

	s->shared = 40;
	s->run = 10000; /* twenty periods */
	sim_run(s, 20000000);
	ck_assert_uint_gt(s->pairs, 300);
	ck_assert_uint_eq(s->pairs, sim_both(s, 0, 1) + sim_both(s, 2, 3));
	sim_free(s);
}
END_TEST

START_TEST(without_registers_the_board_goes_on_alone)
{
	struct sim *s = sim_new(own_words, 2, 500, 34);

	s->shared = 40;
	s->arm_limit = -ENOSPC;
	sim_run(s, 2000000);
	ck_assert_uint_gt(s->pairs, 100);
	ck_assert_uint_eq(sim_by(s, SHARING_FALSE, DETECTED_BY_TRAP), 0);
	ck_assert_uint_gt(s->lost[LOSS_NO_REGISTER], 100);
	sim_free(s);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("comm_sim");
	TCase *t = tcase_create("maps");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, padded_words_give_nothing, 0, 3);
	tcase_add_loop_test(t, read_only_sharing_gives_nothing, 0, 3);
	tcase_add_test(t, a_single_thread_gives_nothing);
	tcase_add_loop_test(t, words_of_their_own_are_false_sharing, 0, 3);
	tcase_add_loop_test(t, one_word_is_true_sharing, 0, 3);
	tcase_add_test(t, an_unknown_trapping_access_misjudges_inside_a_chunk);
	tcase_add_loop_test(t, off_pair_cells_stay_below_3_percent, 0, 4);
	tcase_add_test(t, both_directions_of_a_pair_are_equally_frequent);
	tcase_add_test(t, cells_of_a_ring_of_64_agree_with_the_generator);
	tcase_add_test(t, eight_threads_on_one_line_have_equal_cells);
	tcase_add_loop_test(t, true_share_agrees_where_no_line_is_half_watched,
			    0, 10);
	tcase_add_loop_test(
		t, half_watched_lines_have_the_bias_of_the_closed_form, 0, 3);
	tcase_add_test(t, clocks_that_disagree_do_not_change_the_map);
	tcase_add_test(t, traps_find_sharing_that_the_board_hardly_sees);
	tcase_add_test(t, slow_threads_keep_their_place_on_the_map);
	tcase_add_test(t, threads_that_run_at_long_stretches_are_still_seen);
	tcase_add_test(t, without_registers_the_board_goes_on_alone);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
