/* SPDX-License-Identifier: MIT */
/*
 * test_budget - what is spent stays within the share that was given
 */
#include "analysis/daemon/budget.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

#define S UINT64_C(1000000000)

START_TEST(slices_of_any_cost_stay_within_the_budget)
{
	struct rng rng;
	struct budget b;
	uint64_t now = 5 * S, spent = 0, first = 0;

	rng_seed(&rng, 42, (uint64_t)_i);
	budget_init(&b, 1, 2, now);
	while (now < 3605 * S) {
		uint64_t cost = rng_below(&rng, S / 2) + 1, wait;

		budget_update(&b, now, spent);
		wait = budget_wait(&b);
		now += wait;
		budget_update(&b, now, spent);
		ck_assert_uint_le(budget_wait(&b), 2);
		if (wait && now < 3605 * S)
			continue;
		now += S; /* the slice */
		spent += cost;
		if (!first)
			first = cost;
		budget_update(&b, now, spent);
		budget_learn(&b, cost, 1);
	}
	/*
	 * Slices differ from those before them: some are not yet paid, and
	 * savings beyond two slices like the last are lost.
	 */
	ck_assert_double_le(budget_percent(&b, 2), 1.02);
	ck_assert_double_ge(budget_percent(&b, 2), 0.75);
}
END_TEST

START_TEST(savings_of_an_idle_hour_are_for_two_slices)
{
	struct budget b;

	budget_init(&b, 1, 2, 0);
	budget_learn(&b, S / 10, 1);
	budget_update(&b, 3600 * S, 0);
	ck_assert_uint_eq(budget_wait(&b), 0);
	budget_update(&b, 3600 * S, S / 10);
	ck_assert_uint_eq(budget_wait(&b), 0);
	budget_update(&b, 3600 * S, 2 * (S / 10));
	/* A tenth of a second takes 5 s at 2 % of a processor. */
	ck_assert_double_eq_tol((double)budget_wait(&b), 5e9, 10);
}
END_TEST

START_TEST(a_slice_that_is_longer_is_expected_to_cost_more)
{
	struct budget b;

	budget_init(&b, 2, 1, 0);
	ck_assert_uint_eq(budget_wait(&b), 0);
	budget_update(&b, S, S / 50);
	budget_learn(&b, S / 50, 10);
	ck_assert_double_eq_tol((double)budget_wait(&b), 10e9, 10);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("budget");
	TCase *c = tcase_create("budget");

	tcase_add_loop_test(c, slices_of_any_cost_stay_within_the_budget, 0,
			    10);
	tcase_add_test(c, savings_of_an_idle_hour_are_for_two_slices);
	tcase_add_test(c, a_slice_that_is_longer_is_expected_to_cost_more);
	suite_add_tcase(s, c);
	return run_suite(s);
}
