/* SPDX-License-Identifier: MIT */
/*
 * test_cure - logs of a line, and what splitting it would avoid
 */
#include <check.h>
#include <string.h>

#include "src/base/rng.h"
#include "src/exact/cure.h"
#include "tests/run_suite.h"

enum {
	TURNS = 400
};

#define WORD(n) (UINT64_C(0xff) << 8 * (n))

static struct line_log line;
static struct line_window window[LINE_LOG_LONG_WINDOWS];
static uint64_t transfers;
static struct cure cure;

/* Every turn is a transfer here, or close to that. */
static void turn(uint32_t thread, uint64_t touched, uint64_t stored)
{
	line_log_transfer(&line, ++transfers);
	if (touched & ~stored)
		line_log_add(&line, thread, touched & ~stored, false);
	if (stored)
		line_log_add(&line, thread, stored, true);
}

static void begin(void)
{
	memset(window, 0, sizeof(window));
	line_log_begin(&line, window, 0);
	transfers = LINE_LOG_FIRST;
}

static double share(void)
{
	cure_find(&line, &cure);
	return (double)cure_avoids(&cure, 1000) / 1000;
}

START_TEST(words_of_different_threads_come_apart)
{
	begin();
	for (int i = 0; i < TURNS; i++)
		turn(i % 4, WORD(i % 4), WORD(i % 4));
	ck_assert_double_eq(share(), 1);
	ck_assert_uint_eq(cure.groups, 4);
	ck_assert_uint_eq(cure.after, 0);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_uint_eq(__builtin_popcountll(cure.bytes[i]), 8);
}
END_TEST

/* More bytes than there may be groups, each touched by itself. */
START_TEST(bytes_of_two_threads_that_alternate_come_apart)
{
	begin();
	for (int i = 0; i < TURNS; i++)
		turn(i % 2, UINT64_C(1) << i % 64, UINT64_C(1) << i % 64);
	ck_assert_double_eq(share(), 1);
	ck_assert_uint_eq(cure.groups, 2);
	ck_assert_uint_eq(cure.bytes[0] ^ cure.bytes[1], UINT64_MAX);
}
END_TEST

START_TEST(a_lock_stays_with_what_it_protects)
{
	begin();
	for (int i = 0; i < TURNS; i++)
		turn(i % 3, WORD(0) | WORD(1), WORD(0) | WORD(1));
	ck_assert_double_eq(share(), 0);
	ck_assert_uint_eq(cure.groups, 1);
	ck_assert_uint_eq(cure.bytes[0], WORD(0) | WORD(1));
}
END_TEST

/* The writer changes number and data, readers read both, or the number only. */
START_TEST(a_sequence_number_stays_with_its_data)
{
	begin();
	for (int i = 0; i < TURNS; i++) {
		uint64_t all = WORD(0) | WORD(1) | WORD(2);

		if (i % 3 == 0)
			turn(0, all, all);
		else
			turn(i % 3, i % 4 ? all : WORD(0), 0);
	}
	ck_assert_double_le(share(), 0.01);
	ck_assert_uint_eq(cure.groups, 1);
}
END_TEST

START_TEST(read_mostly_data_leaves_a_counter)
{
	begin();
	for (int i = 0; i < TURNS; i++) {
		turn(0, WORD(1), WORD(1));
		turn(1 + i % 3, WORD(0), 0);
	}
	ck_assert_double_eq(share(), 1);
	ck_assert_uint_eq(cure.groups, 2);
}
END_TEST

/*
 * A lock that two threads use, beside a third thread's word: the lock goes to
 * and fro as before, and the word stays.
 */
START_TEST(only_what_is_beside_a_lock_can_be_avoided)
{
	begin();
	for (int i = 0; i < TURNS; i++) {
		turn(0, WORD(0), WORD(0));
		turn(1, WORD(0), WORD(0));
		turn(2, WORD(1), WORD(1));
	}
	/* Two of three transfers remain. */
	ck_assert_double_eq_tol(share(), 1 / 3.0, 0.01);
	ck_assert_uint_eq(cure.groups, 2);
}
END_TEST

START_TEST(a_line_that_nobody_stores_to_has_no_transfers)
{
	begin();
	for (int i = 0; i < TURNS; i++)
		turn(i % 4, WORD(i % 8), 0);
	ck_assert_double_eq(share(), 0);
	ck_assert_uint_eq(cure.transfers, 0);
}
END_TEST

/* The transfers of a log, by the definition, looking back from each turn. */
static uint64_t by_definition(uint64_t bytes)
{
	uint64_t count = 0;

	for (uint32_t w = 0; w < line.windows; w++)
		for (int i = 0; i < (int)line.window[w].n; i++) {
			const struct line_turn *t = line.window[w].turn;
			int store = i - 1;
			bool seen = false;

			if (!(t[i].touched & bytes))
				continue;
			while (store >= 0 && !(t[store].stored & bytes)) {
				seen |= (t[store].touched & bytes) &&
					t[store].thread == t[i].thread;
				store--;
			}
			count += i >= (int)line.window[w].n / 4 && store >= 0 &&
				 !seen && t[store].thread != t[i].thread;
		}
	return count;
}

START_TEST(transfers_of_a_group_are_those_of_the_definition)
{
	struct rng rng;

	begin();
	rng_seed(&rng, 1 + _i, 0);
	for (int i = 0; i < TURNS; i++) {
		uint64_t touched = rng_next(&rng) & rng_next(&rng);

		turn(rng_below(&rng, 5), touched,
		     rng_below(&rng, 3) ? 0 : touched & rng_next(&rng));
	}
	for (int i = 0; i < 50; i++) {
		uint64_t bytes =
			rng_next(&rng) & rng_next(&rng) & rng_next(&rng);

		ck_assert_uint_eq(cure_transfers(&line, bytes),
				  by_definition(bytes));
	}
	cure_find(&line, &cure);
	ck_assert_uint_eq(cure_transfers(&line, UINT64_MAX),
			  by_definition(UINT64_MAX));
	ck_assert_uint_le(cure.after, cure.transfers);
	ck_assert_uint_le(cure.groups, CURE_GROUPS_MAX);
}
END_TEST

START_TEST(windows_are_spread_over_the_run)
{
	uint64_t first[LINE_LOG_LONG_WINDOWS];

	begin();
	ck_assert_uint_eq(line.capacity, LINE_LOG_LONG_WINDOWS);
	if (_i)
		line.capacity = LINE_LOG_WINDOWS;
	/* The turn's number is in its bytes. */
	for (uint64_t i = 0; i < 100000; i++)
		turn(i % 2, i + 1, 0);
	ck_assert_uint_ge(line.windows, line.capacity / 2);
	for (uint32_t w = 0; w < line.windows; w++) {
		ck_assert_uint_le(line.window[w].n, LINE_LOG_TURNS);
		first[w] = line.window[w].turn[0].touched;
		if (w > 1)
			ck_assert_uint_eq(first[w] - first[w - 1],
					  first[1] - first[0]);
	}
	ck_assert_uint_eq(first[0], 1);
	ck_assert_uint_ge(first[line.windows - 1], 100000 / 4);
}
END_TEST

START_TEST(the_first_logs_have_more_windows)
{
	size_t next = 0;

	for (uint32_t i = 0; i < LINE_LOG_LONG + 2; i++) {
		line_log_begin(&line, window, i);
		ck_assert_uint_eq(line.capacity, i < LINE_LOG_LONG
							 ? LINE_LOG_LONG_WINDOWS
							 : LINE_LOG_WINDOWS);
		ck_assert_uint_eq(line.window - window, next);
		next += line.capacity;
		ck_assert_uint_eq(line_log_windows(i + 1), next);
	}
}
END_TEST

START_TEST(what_a_thread_does_alone_is_one_turn)
{
	begin();
	line_log_transfer(&line, LINE_LOG_FIRST);
	for (int i = 0; i < 100000; i++)
		line_log_add(&line, 1, WORD(i % 2), i % 2);
	ck_assert(line.open);
	ck_assert_uint_eq(line.window[0].n, 1);
	ck_assert_uint_eq(line.window[0].turn[0].touched, WORD(0) | WORD(1));
	ck_assert_uint_eq(line.window[0].turn[0].stored, WORD(1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cure");
	TCase *tc = tcase_create("cure");

	suite_add_tcase(suite, tc);
	tcase_add_test(tc, words_of_different_threads_come_apart);
	tcase_add_test(tc, bytes_of_two_threads_that_alternate_come_apart);
	tcase_add_test(tc, a_lock_stays_with_what_it_protects);
	tcase_add_test(tc, a_sequence_number_stays_with_its_data);
	tcase_add_test(tc, read_mostly_data_leaves_a_counter);
	tcase_add_test(tc, only_what_is_beside_a_lock_can_be_avoided);
	tcase_add_test(tc, a_line_that_nobody_stores_to_has_no_transfers);
	tcase_add_loop_test(
		tc, transfers_of_a_group_are_those_of_the_definition, 0, 10);
	tcase_add_loop_test(tc, windows_are_spread_over_the_run, 0, 2);
	tcase_add_test(tc, the_first_logs_have_more_windows);
	tcase_add_test(tc, what_a_thread_does_alone_is_one_turn);
	return run_suite(suite);
}
