/* SPDX-License-Identifier: MIT */
/*
 * test_budget - what time in the handler costs a thread
 *
 * A thread of the source clock: an interrupt each period of its CPU time, and a
 * handler unless the budget is spent. Each of its handlers has a cost in CPU
 * time, and loses its core for a while.
 */
#include <check.h>

#include "preload/core/budget.h"
#include "tests/run_suite.h"
#include "src/base/rng.h"

enum {
	INTERRUPTS = 20000,
};

#define PERIOD 5000000ull

struct result {
	uint64_t handled, skipped, asked, read, handler_ns, true_ns;
};

/*
 * As the handler goes about it. The wall clock runs on for @lost ns in one
 * handler of @one_in.
 */
static struct result run(uint64_t cpu, uint64_t lost, uint32_t one_in)
{
	struct result r = { 0 };
	struct budget b = { 0 };
	uint64_t now = 1ull << 40;
	struct rng rng;

	rng_seed(&rng, 1, 0);
	for (int i = 0; i < INTERRUPTS; i++, now += PERIOD) {
		bool timed = budget_must_read(&b, now, PERIOD);
		uint64_t ns = 1000, wall;

		if (timed) {
			r.read++;
			budget_pay(&b, i * PERIOD, now);
		}
		if (budget_is_spent(&b, PERIOD)) {
			r.skipped++;
		} else {
			r.handled++;
			ns = cpu;
		}
		r.true_ns += ns;
		wall = ns + (rng_below(&rng, one_in) ? 0 : lost);
		now += wall - ns;
		if (!budget_must_ask(wall, PERIOD)) {
			ns = wall;
			budget_charge(&b, wall, ns, PERIOD);
		} else if (timed) {
			r.asked++;
			budget_charge(&b, wall, ns, PERIOD);
		} else {
			budget_charge(&b, wall, wall, PERIOD);
			ns = b.usual_ns;
		}
		r.handler_ns += ns;
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
		ck_assert_uint_eq(r.handler_ns, r.true_ns);
	}
}
END_TEST

/* A tenth of a second is twenty periods. */
START_TEST(a_quick_handler_seldom_reads_its_time)
{
	struct result r = run(30000, 0, 1);

	ck_assert_uint_eq(r.asked, 0);
	ck_assert_uint_eq(r.read, INTERRUPTS / 20);
	ck_assert_uint_eq(run(100000, 4000000, 1).asked, INTERRUPTS);
}
END_TEST

/*
 * One handler of 300 loses its core: what it took is not known, unless it was
 * timed, and the sum is right nevertheless.
 */
START_TEST(a_lost_core_is_no_time_of_the_handler)
{
	const uint64_t lost[] = { 700000, 4000000, 300000000 };

	for (int i = 0; i < 3; i++) {
		struct result r = run(30000, lost[i], 300);

		ck_assert_uint_gt(r.asked, 0);
		ck_assert_uint_lt(r.read, INTERRUPTS / 8);
		ck_assert_double_eq_tol((double)r.handler_ns, (double)r.true_ns,
					.01 * (double)r.true_ns);
	}
}
END_TEST

START_TEST(one_handler_counts_as_a_period_at_most)
{
	struct budget b = { .debt_ns = 7 };

	budget_charge(&b, PERIOD * 100, PERIOD * 100, PERIOD);
	ck_assert_uint_eq(b.debt_ns, 7 + PERIOD);
	b.debt_ns = 7;
	budget_charge(&b, 13, 13, PERIOD);
	ck_assert_uint_eq(b.debt_ns, 20);
}
END_TEST

static uint64_t debt_after(struct budget *b, uint64_t debt, uint64_t cpu)
{
	b->debt_ns = debt;
	budget_pay(b, cpu, 0);
	return b->debt_ns;
}

START_TEST(all_time_since_the_last_call_pays_a_debt_off)
{
	struct budget b = { .paid_at = 1000 };

	ck_assert_uint_eq(debt_after(&b, 20, 1080), 10);
	ck_assert_uint_eq(debt_after(&b, 10, 1080), 10);
	ck_assert_uint_eq(debt_after(&b, 10, 9000), 0);
	/* in a forked child */
	ck_assert_uint_eq(debt_after(&b, 20, 80), 20);
	ck_assert_uint_eq(debt_after(&b, 20, 160), 10);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("budget");
	TCase *t = tcase_create("budget");

	tcase_add_test(t, who_loses_its_core_is_sampled_on);
	tcase_add_test(t, slow_handlers_take_an_eighth);
	tcase_add_test(t, a_quick_handler_seldom_reads_its_time);
	tcase_add_test(t, a_lost_core_is_no_time_of_the_handler);
	tcase_add_test(t, one_handler_counts_as_a_period_at_most);
	tcase_add_test(t, all_time_since_the_last_call_pays_a_debt_off);
	suite_add_tcase(s, t);
	return run_suite(s);
}
