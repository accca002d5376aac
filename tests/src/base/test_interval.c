/* SPDX-License-Identifier: MIT */
/*
 * test_interval - the intervals against printed tables, their own definition
 * and drawn samples
 */
#include <check.h>
#include <math.h>

#include "src/base/interval.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

/* Garwood's limits as printed in the usual tables, to four places. */
static const struct {
	double count, low, high;
} garwood[] = {
	{ 0, 0, 3.6889 },         { 1, 0.0253, 5.5716 },
	{ 2, 0.2422, 7.2247 },    { 3, 0.6187, 8.7673 },
	{ 5, 1.6235, 11.6683 },   { 10, 4.7954, 18.3904 },
	{ 20, 12.2165, 30.8884 },
};

START_TEST(count_limits_are_those_of_the_printed_table)
{
	struct interval i = interval_count(garwood[_i].count);

	ck_assert_double_eq_tol(i.low, garwood[_i].low, 6e-5);
	ck_assert_double_eq_tol(i.high, garwood[_i].high, 6e-5);
}
END_TEST

/* Sum of the probabilities of 0 to @count, term by term. */
static double poisson_up_to(int count, double mean)
{
	double sum = 0;

	for (int k = 0; k <= count; k++)
		sum += exp(k * log(mean) - mean - lgamma(k + 1));
	return sum;
}

/* By definition the limits are the means at which the count is a 2.5 % event.
 */
START_TEST(count_limits_leave_a_fortieth_in_each_tail)
{
	static const int counts[] = { 1, 2, 4, 17, 29, 30, 300, 5000, 99000 };
	int count = counts[_i];
	struct interval i = interval_count(count);

	ck_assert_double_eq_tol(1 - poisson_up_to(count - 1, i.low), 0.025,
				1e-8);
	ck_assert_double_eq_tol(poisson_up_to(count, i.high), 0.025, 1e-8);
}
END_TEST

START_TEST(count_limits_do_not_jump_where_the_approximation_begins)
{
	struct interval a = interval_count(99998.999);
	struct interval b = interval_count(100000);

	ck_assert_double_eq_tol(b.low - a.low, 1.001, 0.01);
	ck_assert_double_eq_tol(b.high - a.high, 1.001, 0.01);
}
END_TEST

START_TEST(count_limits_of_huge_counts_are_normal_ones)
{
	struct interval i = interval_count(1e12);

	ck_assert_double_eq_tol(i.low, 1e12 - 1.959964e6, 3);
	ck_assert_double_eq_tol(i.high, 1e12 + 1.959964e6, 3);
}
END_TEST

/* R. G. Newcombe, Statistics in Medicine 17, 1998, table I, method 3. */
static const struct {
	double hits, trials, low, high;
} wilson[] = {
	{ 81, 263, 0.2553, 0.3662 },
	{ 15, 148, 0.0624, 0.1605 },
	{ 0, 20, 0, 0.1611 },
	{ 1, 29, 0.0061, 0.1718 },
};

START_TEST(share_limits_are_those_of_the_printed_table)
{
	struct interval i = interval_share(wilson[_i].hits, wilson[_i].trials);

	ck_assert_double_eq_tol(i.low, wilson[_i].low, 6e-5);
	ck_assert_double_eq_tol(i.high, wilson[_i].high, 6e-5);
}
END_TEST

START_TEST(share_limits_solve_the_score_equation)
{
	for (double hits = 1; hits < 40; hits++) {
		struct interval i = interval_share(hits, 40);
		double limit[] = { i.low, i.high };

		for (int j = 0; j < 2; j++) {
			double p = limit[j];
			double z = (hits / 40 - p) / sqrt(p * (1 - p) / 40);

			ck_assert_double_eq_tol(fabs(z), 1.959964, 1e-5);
		}
	}
}
END_TEST

START_TEST(nothing_seen_tells_nothing_of_a_share)
{
	struct interval i = interval_share(0, 0);

	ck_assert_double_eq(i.low, 0);
	ck_assert_double_eq(i.high, 1);
}
END_TEST

START_TEST(nonsense_gives_limits_in_range)
{
	static const double bad[] = { -5, -0.0, NAN };

	for (int j = 0; j < 3; j++) {
		struct interval i = interval_count(bad[j]);

		ck_assert_double_eq(i.low, 0);
		ck_assert_double_eq_tol(i.high, 3.6889, 1e-4);
		i = interval_share(3, bad[j]);
		ck_assert(i.low == 0 && i.high == 1);
	}
	ck_assert_double_le(interval_share(7, 5).high, 1);
	ck_assert_double_ge(interval_share(-7, 5).low, 0);
}
END_TEST

static int draw_poisson(struct rng *r, double mean)
{
	double product = 1, limit = exp(-mean);
	int k = -1;

	do {
		product *= ((rng_next(r) >> 11) + 0.5) * 0x1p-53;
		k++;
	} while (product > limit);
	return k;
}

START_TEST(count_interval_covers_at_least_95_percent)
{
	static const double means[] = { 0.5, 3, 12, 40 };
	enum {
		DRAWS = 20000
	};
	struct rng r;
	int covered = 0;

	rng_seed(&r, 7, _i);
	for (int j = 0; j < DRAWS; j++) {
		struct interval i = interval_count(draw_poisson(&r, means[_i]));

		covered += i.low <= means[_i] && means[_i] <= i.high;
	}
	/* 0.006 is four standard deviations of the drawn share. */
	ck_assert_int_ge(covered, DRAWS * (0.95 - 0.006));
}
END_TEST

/*
 * Half of the detections weigh 1 and half 2, as those of the board and of
 * half-watched lines: the effective number gives the share its coverage.
 */
START_TEST(effective_number_gives_weighted_shares_their_coverage)
{
	enum {
		RUNS = 4000,
		DETECTIONS = 200
	};
	const double p = 0.3;
	int covered = 0;
	struct rng r;

	rng_seed(&r, 11, 0);
	for (int run = 0; run < RUNS; run++) {
		double sum = 0, squares = 0, hits = 0, n;
		struct interval i;

		for (int j = 0; j < DETECTIONS; j++) {
			double w = 1 + j % 2;

			sum += w;
			squares += w * w;
			if (rng_below(&r, 1000) < p * 1000)
				hits += w;
		}
		n = interval_effective(sum, squares);
		i = interval_share(hits / sum * n, n);
		covered += i.low <= p && p <= i.high;
	}
	ck_assert_double_eq_tol(covered / (double)RUNS, 0.95, 0.015);
	ck_assert_double_eq(interval_effective(0, 0), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("interval");
	TCase *t = tcase_create("interval");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, count_limits_are_those_of_the_printed_table, 0,
			    7);
	tcase_add_loop_test(t, count_limits_leave_a_fortieth_in_each_tail, 0,
			    9);
	tcase_add_test(t,
		       count_limits_do_not_jump_where_the_approximation_begins);
	tcase_add_test(t, count_limits_of_huge_counts_are_normal_ones);
	tcase_add_loop_test(t, share_limits_are_those_of_the_printed_table, 0,
			    4);
	tcase_add_test(t, share_limits_solve_the_score_equation);
	tcase_add_test(t, nothing_seen_tells_nothing_of_a_share);
	tcase_add_test(t, nonsense_gives_limits_in_range);
	tcase_add_loop_test(t, count_interval_covers_at_least_95_percent, 0, 4);
	tcase_add_test(t,
		       effective_number_gives_weighted_shares_their_coverage);
	suite_add_tcase(s, t);
	return run_suite(s);
}
