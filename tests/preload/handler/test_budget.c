/* SPDX-License-Identifier: MIT */
/*
 * test_budget - what time in the handler costs a thread
 *
 * A thread of the source clock: an interrupt each period of its CPU time, and a
 * handler unless the budget is spent. Each of its handlers has a cost in CPU
 * time, and loses its core for a while.
 */
#include <check.h>

#include "preload/handler/budget.h"
#include "tests/run_suite.h"
#include "src/base/rng.h"

enum {
	INTERRUPTS = 20000,
};

#define PERIOD 5000000ull

struct result {
	uint64_t handled, skipped, asked, handler_ns;
};

/* As the handler goes about it. */
static struct result run(uint64_t cpu, uint64_t lost, uint32_t one_in)
{
	struct result r = { 0 };
	struct rng rng;
	uint64_t paid_at = 0;
	int64_t debt = 0;

	rng_seed(&rng, 1, 0);
	for (int i = 0; i < INTERRUPTS; i++) {
		uint64_t ns = 1000, wall;

		if (budget_is_spent(debt, PERIOD)) {
			r.skipped++;
		} else {
			r.handled++;
			ns = cpu;
		}
		wall = ns + (rng_below(&rng, one_in) ? 0 : lost);
		if (budget_must_ask(wall, PERIOD))
			r.asked++;
		else
			ns = wall;
		r.handler_ns += ns;
		debt = budget_pay(budget_charge(debt, ns, PERIOD), &paid_at,
				  (i + 1) * PERIOD);
	}
	return r;
}

START_TEST(who_loses_its_core_is_sampled_on)
{
	const uint64_t lost[] = { 100000, 600000, 4000000, 300000000 };

	for (int i = 0; i < 4; i++)
		for (uint32_t one_in = 1; one_in < 5; one_in++) {
			struct result r = run(100000, lost[i], one_in);

			ck_assert_uint_eq(r.skipped, 0);
			ck_assert_uint_eq(r.handled, INTERRUPTS);
		}
}
END_TEST

/* And no less, or samples were given away: within one part in a hundred. */
START_TEST(slow_handlers_take_an_eighth)
{
	for (uint64_t cpu = PERIOD / HANDLER_SHARE; cpu <= PERIOD;
	     cpu += 100000) {
		struct result r = run(cpu, 4000000, 3);
		double share = (double)r.handler_ns / (INTERRUPTS * PERIOD);

		ck_assert_double_le(share, 1.01 / HANDLER_SHARE);
		ck_assert_double_ge(share, .99 / HANDLER_SHARE);
	}
}
END_TEST

START_TEST(a_quick_handler_asks_once)
{
	ck_assert_uint_eq(run(100000, 0, 1).asked, 0);
	ck_assert_uint_eq(run(100000, 4000000, 1).asked, INTERRUPTS);
}
END_TEST

START_TEST(one_handler_counts_as_a_period_at_most)
{
	ck_assert_int_eq(budget_charge(7, PERIOD * 100, PERIOD), 7 + PERIOD);
	ck_assert_int_eq(budget_charge(7, 13, PERIOD), 20);
}
END_TEST

START_TEST(all_time_since_the_last_call_pays_a_debt_off)
{
	uint64_t paid_at = 1000;

	ck_assert_int_eq(budget_pay(20, &paid_at, 1080), 10);
	ck_assert_int_eq(budget_pay(10, &paid_at, 1080), 10);
	ck_assert_int_eq(budget_pay(10, &paid_at, 9000), 0);
	/* in a forked child */
	ck_assert_int_eq(budget_pay(20, &paid_at, 80), 20);
	ck_assert_int_eq(budget_pay(20, &paid_at, 160), 10);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("budget");
	TCase *t = tcase_create("budget");

	tcase_add_test(t, who_loses_its_core_is_sampled_on);
	tcase_add_test(t, slow_handlers_take_an_eighth);
	tcase_add_test(t, a_quick_handler_asks_once);
	tcase_add_test(t, one_handler_counts_as_a_period_at_most);
	tcase_add_test(t, all_time_since_the_last_call_pays_a_debt_off);
	suite_add_tcase(s, t);
	return run_suite(s);
}
