/* SPDX-License-Identifier: MIT */
/*
 * test_rng - every value that a draw can give
 *
 * The test sets the generator's state so that the next word is a chosen one. So
 * a draw from n values can be made to give each of them, and a mean is a sum.
 */
#include <check.h>

#include "src/base/rng.h"
#include "tests/run_suite.h"

#define INVERSE_5 0xCCCCCCCCCCCCCCCDull /* modulo 2^64 */
#define INVERSE_9 0x8E38E38E38E38E39ull

/* Make @word the next one. */
static void foresee(struct rng *r, uint64_t word)
{
	uint64_t x = word * INVERSE_9;

	rng_seed(r, 1, 0);
	r->s[1] = (x >> 7 | x << 57) * INVERSE_5;
}

/* Make draws below @n give @value next. */
static void foresee_below(struct rng *r, uint64_t n, uint64_t value)
{
	unsigned __int128 word = (unsigned __int128)value << 64;

	foresee(r, (uint64_t)((word + n - 1) / n));
}

START_TEST(next_word_is_the_one_foreseen)
{
	struct rng r, from;

	rng_seed(&from, 5, 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t word = rng_next(&from);

		foresee(&r, word);
		ck_assert_uint_eq(rng_next(&r), word);
	}
}
END_TEST

START_TEST(draw_below_n_gives_each_value)
{
	struct rng r;

	for (uint64_t n = 1; n < 300; n++) {
		for (uint64_t i = 0; i < n; i++) {
			foresee_below(&r, n, i);
			ck_assert_uint_eq(rng_below(&r, n), i);
		}
	}
}
END_TEST

/* The sampling intervals of a period of 1,000 have a width of 125. */
START_TEST(mean_of_a_draw_around_a_value_is_the_value)
{
	static const uint64_t means[] = { 200, 999, 1000, 1000003 };
	uint64_t mean = means[_i];
	struct rng r;

	for (uint64_t width = 0; width <= 129; width++) {
		uint64_t n = 0, sum = 0, values = width + 1 - width % 2;

		for (; n < values; n++) {
			uint64_t v;

			foresee_below(&r, values, n);
			v = rng_around(&r, mean, width);
			ck_assert_uint_eq(v, mean - width / 2 + n);
			sum += v;
		}
		ck_assert_uint_eq(sum, n * mean);
		foresee(&r, UINT64_MAX);
		ck_assert_uint_eq(rng_around(&r, mean, width),
				  mean + width / 2);
	}
}
END_TEST

START_TEST(draw_around_a_small_value_can_be_as_wide_as_twice_it)
{
	struct rng r;

	for (uint64_t mean = 0; mean < 100; mean++) {
		foresee(&r, 0);
		ck_assert_uint_eq(rng_around(&r, mean, 2 * mean), 0);
		foresee(&r, UINT64_MAX);
		ck_assert_uint_eq(rng_around(&r, mean, 2 * mean), 2 * mean);
	}
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("rng");
	TCase *t = tcase_create("draws");

	tcase_add_test(t, next_word_is_the_one_foreseen);
	tcase_add_test(t, draw_below_n_gives_each_value);
	tcase_add_loop_test(t, mean_of_a_draw_around_a_value_is_the_value, 0,
			    4);
	tcase_add_test(t, draw_around_a_small_value_can_be_as_wide_as_twice_it);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
