/* SPDX-License-Identifier: MIT */
/*
 * test_transfer_tally - sums, variances and intervals of the samples' credits
 */
#include <math.h>

#include "src/engine/transfer_tally.h"
#include "transfer_hand.h"
#include "tests/run_suite.h"

static void chain_of(struct transfer_tally *t, uint32_t n,
		     const struct transfer_event *event)
{
	struct transfer_chain c = { .n = n, .event = event };

	transfer_tally_add(t, &c);
}

START_TEST(a_sample_counts_once_in_the_squares_of_each_cell)
{
	static const struct transfer_event event[] = {
		{ .from = 0, .to = 1, .weight = 3, .weight_false = 3 },
		{ .from = 2, .to = 0, .weight = 3 },
		{ .from = 1, .to = 0, .weight = 3 },
		{ .from = 0, .to = 9, .weight = 3 }, /* no such thread */
	};
	struct transfer_tally *t =
		transfer_tally_init(map(transfer_tally_size(3)), 3);
	struct transfer_tally *u =
		transfer_tally_init(map(transfer_tally_size(3)), 3);
	const struct transfer_cell *c;

	chain_of(t, 4, event);
	chain_of(t, 1, event);
	c = transfer_tally_cell(t, 1, 0);
	ck_assert_double_eq(c->share[TRANSFER_ALL].sum, 9);
	ck_assert_double_eq(c->share[TRANSFER_ALL].square, 36 + 9);
	ck_assert_double_eq(c->share[TRANSFER_FALSE].sum, 6);
	ck_assert_double_eq(c->share[TRANSFER_FALSE].square, 9 + 9);
	ck_assert_double_eq(c->share[TRANSFER_TRUE].square, 9);
	ck_assert_double_eq(c->a_to_b, 6);
	ck_assert_uint_eq(c->seen, 3);
	ck_assert_uint_eq(c->samples, 2);
	c = transfer_tally_total(t);
	ck_assert_double_eq(c->share[TRANSFER_ALL].sum, 12);
	ck_assert_double_eq(c->share[TRANSFER_ALL].square, 81 + 9);
	ck_assert_uint_eq(transfer_tally_cell(t, 1, 2)->samples, 0);

	chain_of(u, 2, event);
	transfer_tally_merge(u, t);
	ck_assert_double_eq(transfer_tally_total(u)->share[0].sum, 18);
	ck_assert_double_eq(transfer_tally_cell(u, 0, 2)->share[0].sum, 6);
	ck_assert_uint_eq(transfer_tally_size(0), 0);
	ck_assert_ptr_null(transfer_tally_init(NULL, 0));
}
END_TEST

START_TEST(intervals_solve_their_equation)
{
	struct transfer_sampling s = { .samples = 1000, .jitter = 1.0 / 12 };
	const struct transfer_moment m = { 50000, 50000 * 1000.0 };
	struct transfer_moment none = { 0, 0 };
	struct interval i = transfer_interval(&m, &s);
	/* 50 samples of weight 1000: variance per mean, in such units */
	double rho = 1 - 11.0 / 12 * 50 / 1000, z = 1.959963984540054;
	double low = i.low / 1000, high = i.high / 1000;

	ck_assert_double_eq_tol(transfer_variance(&m, &s), rho * 50e6, 1e-3);
	ck_assert_double_eq_tol((50 - low) * (50 - low), z * z * rho * low,
				1e-6);
	ck_assert_double_eq_tol((50 - high) * (50 - high), z * z * rho * high,
				1e-6);
	ck_assert_double_lt(low, 50);
	ck_assert_double_gt(high, 50);
	s.systematic = 0.1;
	i = transfer_interval(&m, &s);
	ck_assert_double_eq_tol(pow(50 - i.low / 1000, 2),
				pow(50 - low, 2) + 25, 1e-6);
	ck_assert_double_eq_tol(pow(i.high / 1000 - 50, 2),
				pow(high - 50, 2) + 25, 1e-6);
	s.weight = 1000;
	i = transfer_interval(&none, &s);
	ck_assert(i.low == 0 && fabs(i.high - 3688.879454) < 1e-3);
	s.weight = 0;
	i = transfer_interval(&none, &s);
	ck_assert_double_eq(i.low, 0);
	ck_assert_double_eq(i.high, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transfer_tally");
	TCase *tc = tcase_create("transfer_tally");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, a_sample_counts_once_in_the_squares_of_each_cell);
	tcase_add_test(tc, intervals_solve_their_equation);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
