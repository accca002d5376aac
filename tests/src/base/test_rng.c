/* SPDX-License-Identifier: MIT */
/*
 * test_rng - every value that a draw can give
 *
 * The test sets the generator's state so that the next word is a chosen one. So
 * a draw from n values can be made to give each of them, and a mean is a sum.
 */
#include <check.h>
#include <math.h>

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

/* Whatever place was drawn in a period, each of the next may follow. */
START_TEST(every_period_has_one_draw_anywhere_in_it)
{
	enum {
		PERIOD = 7
	};

	for (uint64_t first = 0; first < PERIOD; first++)
		for (uint64_t next = 0; next < PERIOD; next++) {
			uint64_t rest = 0;
			struct rng r;

			foresee_below(&r, PERIOD, first);
			ck_assert_uint_eq(rng_skip(&r, PERIOD, &rest), first);
			foresee_below(&r, PERIOD, next);
			ck_assert_uint_eq(first + 1 +
						  rng_skip(&r, PERIOD, &rest),
					  PERIOD + next);
		}
}
END_TEST

/*
 * Draws of one in a period have a geometric distance: mean and deviation are
 * those, and the shortest distances are as frequent as they should be.
 */
START_TEST(rare_draws_are_independent)
{
	enum {
		DRAWS = 200000,
		PERIOD = 50
	};
	double sum = 0, squares = 0, p = 1.0 / PERIOD, share = p;
	double variance = (1 - p) / (p * p);
	int near[4] = { 0 };
	struct rng_rare rare;
	struct rng r;

	rng_seed(&r, 5, 0);
	rng_rare_init(&rare, PERIOD);
	for (int i = 0; i < DRAWS; i++) {
		double n = (double)rng_rare_skip(&r, &rare);

		sum += n;
		squares += (n - PERIOD + 1) * (n - PERIOD + 1);
		if (n < 4)
			near[(int)n]++;
	}
	ck_assert_double_le(fabs(sum / DRAWS - (PERIOD - 1)),
			    5 * sqrt(variance / DRAWS));
	/* The square has a deviation of sqrt(8) variances. */
	ck_assert_double_le(fabs(squares / DRAWS / variance - 1),
			    5 * sqrt(8.0 / DRAWS));
	for (int n = 0; n < 4; n++, share *= 1 - p)
		ck_assert_double_le(fabs(near[n] - share * DRAWS),
				    5 * sqrt(share * DRAWS));
}
END_TEST

START_TEST(rare_draws_of_any_period)
{
	struct rng_rare rare;
	struct rng r;

	rng_seed(&r, 6, 0);
	rng_rare_init(&rare, 1);
	ck_assert_uint_eq(rng_rare_skip(&r, &rare), 0);
	rng_rare_init(&rare, UINT64_C(1000000000000));
	for (int i = 0; i < 1000; i++)
		ck_assert_uint_lt(rng_rare_skip(&r, &rare), UINT64_C(1) << 48);
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
	tcase_add_test(t, every_period_has_one_draw_anywhere_in_it);
	tcase_add_test(t, rare_draws_are_independent);
	tcase_add_test(t, rare_draws_of_any_period);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
