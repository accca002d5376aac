/* SPDX-License-Identifier: MIT */
/*
 * test_compare - intervals of ratios against tables and against simulations
 */
#include <math.h>

#include "analysis/diff/compare.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

START_TEST(a_ratio_and_its_interval_follow_from_the_counts)
{
	struct run_count a = { 100, 1000 }, b = { 50, 2000 };
	struct comparison c = compare_rates(&a, 1, &b, 1, 0.05);

	ck_assert_double_eq_tol(c.before, 0.1, 1e-12);
	ck_assert_double_eq_tol(c.after, 0.025, 1e-12);
	ck_assert_double_eq_tol(c.ratio, 0.25, 1e-12);
	/* 50 of 150: Wilson's interval is 0.26289 to 0.41210. */
	ck_assert_double_eq_tol(c.by.low, 0.26289 / 0.73711 / 2, 1e-4);
	ck_assert_double_eq_tol(c.by.high, 0.41210 / 0.58790 / 2, 1e-4);
	ck_assert_int_eq(c.verdict, VERDICT_FEWER);
	c = compare_rates(&b, 1, &a, 1, 0.05);
	ck_assert_double_eq_tol(c.ratio, 4, 1e-12);
	ck_assert_int_eq(c.verdict, VERDICT_MORE);
}
END_TEST

START_TEST(nothing_on_a_side_still_bounds_the_ratio)
{
	struct run_count none = { 0, 1000 }, some = { 40, 1000 };
	struct run_count few = { 2, 1000 }, empty = { 0, 0 };
	struct comparison c = compare_rates(&some, 1, &none, 1, 0.05);

	ck_assert_double_eq(c.ratio, 0);
	ck_assert_double_eq(c.by.low, 0);
	ck_assert(c.by.high > 0 && c.by.high < 0.2);
	ck_assert_int_eq(c.verdict, VERDICT_FEWER);
	c = compare_rates(&none, 1, &some, 1, 0.05);
	ck_assert(isinf(c.ratio) && isinf(c.by.high) && c.by.low > 5);
	ck_assert_int_eq(c.verdict, VERDICT_MORE);
	/* Two detections are gone by chance as often as not. */
	c = compare_rates(&few, 1, &none, 1, 0.05);
	ck_assert_int_eq(c.verdict, VERDICT_NOISE);
	c = compare_rates(&none, 1, &none, 1, 0.05);
	ck_assert_int_eq(c.verdict, VERDICT_NOISE);
	ck_assert(isnan(c.ratio));
	c = compare_rates(&some, 1, &empty, 1, 0.05);
	ck_assert_int_eq(c.verdict, VERDICT_UNKNOWN);
}
END_TEST

START_TEST(runs_that_scatter_widen_the_interval)
{
	struct run_count a[] = { { 100, 1000 }, { 100, 1000 }, { 100, 1000 } };
	struct run_count b[] = { { 70, 1000 }, { 70, 1000 }, { 70, 1000 } };
	struct run_count wild[] = { { 10, 1000 }, { 190, 1000 }, { 10, 1000 } };
	struct comparison alike = compare_rates(a, 3, b, 3, 0.05);
	struct comparison apart = compare_rates(a, 3, wild, 3, 0.05);

	ck_assert_int_eq(alike.verdict, VERDICT_FEWER);
	ck_assert_double_eq_tol(apart.ratio, alike.ratio, 1e-12);
	ck_assert_int_eq(apart.verdict, VERDICT_NOISE);
	ck_assert(apart.by.low < alike.by.low / 1.5);
}
END_TEST

/* Poisson, by multiplying uniform numbers (Knuth); @mean below 500. */
static double poisson(struct rng *r, double mean)
{
	double product = 1, limit = exp(-mean);
	int n = -1;

	do {
		product *= ((double)(rng_next(r) >> 11) + 0.5) * 0x1p-53;
		n++;
	} while (product > limit);
	return n;
}

/* The share of 4000 comparisons of equal rates that say they differ. */
static double false_alarms(double mean, size_t runs, double scatter)
{
	struct rng r;
	int alarms = 0;

	rng_seed(&r, 42, 0);
	for (int i = 0; i < 4000; i++) {
		struct run_count side[2][8];

		for (size_t s = 0; s < 2; s++)
			for (size_t k = 0; k < runs; k++) {
				double u =
					(double)(rng_next(&r) >> 11) * 0x1p-53;
				double rate =
					mean * (1 + scatter * (2 * u - 1));

				side[s][k] =
					(struct run_count){ poisson(&r, rate),
							    1000 };
			}
		alarms += compare_rates(side[0], runs, side[1], runs, 0.05)
				  .verdict != VERDICT_NOISE;
	}
	return alarms / 4000.0;
}

/*
 * Four standard errors of a share of 5 % in 4000 are 1.4 points. Where the
 * counts are few the interval is cautious, so there is no lower bound.
 */
START_TEST(equal_rates_differ_in_at_most_five_of_a_hundred)
{
	ck_assert_double_le(false_alarms(3, 1, 0), 0.064);
	ck_assert_double_le(false_alarms(30, 1, 0), 0.064);
	ck_assert_double_le(false_alarms(300, 1, 0), 0.064);
	ck_assert_double_ge(false_alarms(300, 1, 0), 0.036);
	ck_assert_double_le(false_alarms(100, 4, 0), 0.064);
	/* Runs that differ by a third each way scatter more than Poisson. */
	ck_assert_double_le(false_alarms(100, 4, 0.33), 0.064);
	ck_assert_double_ge(false_alarms(100, 1, 0.33), 0.15);
}
END_TEST

START_TEST(values_without_an_error_need_two_runs)
{
	double a[] = { 1.0, 1.1, 0.9 }, b[] = { 2.0, 2.1, 1.9 };
	struct comparison c = compare_values(a, 1, b, 1, 0.05);

	ck_assert_double_eq_tol(c.ratio, 2, 1e-12);
	ck_assert_int_eq(c.verdict, VERDICT_UNKNOWN);
	c = compare_values(a, 3, b, 3, 0.05);
	ck_assert_double_eq_tol(c.ratio, 2.0050, 1e-3);
	ck_assert_int_eq(c.verdict, VERDICT_MORE);
	ck_assert(c.by.low > 1.4 && c.by.high < 2.9);
	c = compare_values(a, 3, a, 2, 0.05);
	ck_assert_int_eq(c.verdict, VERDICT_NOISE);
	a[1] = 0;
	c = compare_values(a, 3, b, 3, 0.05);
	ck_assert_int_eq(c.verdict, VERDICT_UNKNOWN);
	ck_assert(isnan(c.ratio));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("compare");
	TCase *t = tcase_create("compare");

	tcase_add_test(t, a_ratio_and_its_interval_follow_from_the_counts);
	tcase_add_test(t, nothing_on_a_side_still_bounds_the_ratio);
	tcase_add_test(t, runs_that_scatter_widen_the_interval);
	tcase_add_test(t, equal_rates_differ_in_at_most_five_of_a_hundred);
	tcase_add_test(t, values_without_an_error_need_two_runs);
	suite_add_tcase(s, t);
	return run_suite(s);
}
