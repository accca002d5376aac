/* SPDX-License-Identifier: MIT */
/*
 * test_rate - what a budget allows, and samples of threads whose rate changes
 */
#include <check.h>
#include <math.h>

#include "preload/sources/clock/phase.h"
#include "preload/sources/clock/rate.h"
#include "tests/run_suite.h"

#define PERIOD 5000000ull
#define STEP   100000ull /* of the fake kernel */

enum {
	PERCENT = RATE_WHOLE / 100,
	HANDLER = 50000,
	THREADS = 500,
	LONGEST = 20000, /* steps that a thread runs, 2 s */
};

static void signal_came(struct rate *r, uint64_t passed, bool full)
{
	rate_spend(r, HANDLER);
	rate_pass(r, passed, full);
}

START_TEST(the_slow_rate_alone_keeps_within_the_budget)
{
	ck_assert_uint_eq(rate_slow_weight(0, PERIOD), 1);
	for (uint32_t b = PERCENT / 100; b <= 100 * PERCENT; b += PERCENT / 7) {
		uint64_t weight = rate_slow_weight(b, PERIOD);
		double cost = RATE_INTERRUPT_NS + RATE_HANDLER_NS;

		ck_assert_uint_ge(weight, RATE_SLOW);
		ck_assert_double_le(cost / (double)(weight * PERIOD),
				    (double)b / RATE_WHOLE);
	}
}
END_TEST

/* A minute of CPU time, with sharing at each sample. Returns what was spent. */
static double spend(uint32_t millionths, uint32_t *changes)
{
	struct rate r;
	uint32_t slow = rate_slow_weight(millionths, PERIOD);
	bool full = true;

	*changes = 0;
	rate_init(&r, millionths);
	rate_thread_begins(&r);
	for (uint64_t t = 0; t < 60000000000ull;) {
		uint64_t step = (full ? 1 : slow) * PERIOD;
		bool wanted = rate_wants_full(&r, full);

		*changes += wanted != full;
		full = wanted;
		t += step;
		rate_found(&r);
		signal_came(&r, step, full);
	}
	return (double)r.spent / 60e9;
}

START_TEST(the_full_rate_is_taken_as_far_as_the_budget_goes)
{
	for (uint32_t percent = 1; percent <= 4; percent++) {
		uint32_t changes;
		double share = spend(percent * PERCENT, &changes);

		ck_assert_double_le(share, .0105 * percent + .0002 * percent);
		/* 200 samples a second cost 2.2 %. */
		ck_assert_double_ge(share, fmin(.0099 * percent, .0219));
		/* Stretches at the full rate are worth their beginning. */
		ck_assert_uint_le(changes, 2 * 12000 / RATE_STRETCH);
	}
}
END_TEST

START_TEST(the_rate_is_full_at_first_and_where_sharing_is_met)
{
	struct rate r;
	uint64_t ran = 0;

	rate_init(&r, 100 * PERCENT);
	rate_thread_begins(&r);
	rate_thread_begins(&r);
	for (; rate_wants_full(&r, true); ran += PERIOD)
		signal_came(&r, PERIOD, true);
	ck_assert_uint_eq(ran, 2 * RATE_FIRST_NS);
	signal_came(&r, 4 * PERIOD, false);
	ck_assert(!rate_wants_full(&r, false));
	rate_thread_ends(&r);
	rate_found(&r);
	for (ran = 0; rate_wants_full(&r, ran); ran += PERIOD)
		signal_came(&r, PERIOD, true);
	ck_assert_uint_eq(ran, RATE_FOUND_NS);
}
END_TEST

START_TEST(threads_without_number_do_not_keep_the_rate_full)
{
	struct rate r;

	rate_init(&r, 100 * PERCENT);
	for (int i = 0; i < 10 * RATE_FIRST_THREADS; i++) {
		rate_thread_begins(&r);
		signal_came(&r, RATE_FIRST_NS, true);
		rate_thread_ends(&r);
	}
	ck_assert_int_lt(atomic_load(&r.left), 0);
	rate_found(&r);
	ck_assert(!rate_wants_full(&r, false));
}
END_TEST

/* Sharing is met always. The thread is switched so often in a second. */
static bool stays_full(uint32_t percent, uint64_t switches)
{
	struct rate_seen seen = { 0, 0 };
	bool full = true;
	struct rate r;

	rate_init(&r, percent * PERCENT);
	rate_thread_begins(&r);
	for (uint64_t t = PERIOD; full && t < 60000000000ull; t += PERIOD) {
		struct rate_seen now = { t, t / 1000 * switches / 1000000 };

		rate_found(&r);
		signal_came(&r, PERIOD, full);
		seen.cpu += PERIOD;
		rate_look(&r, &seen, &now, full);
		full = rate_wants_full(&r, full);
	}
	return full;
}

/* 2.2 % are those of the samples. */
START_TEST(switches_of_threads_use_up_the_budget)
{
	ck_assert(stays_full(5, 5000));
	ck_assert(!stays_full(5, 8000));
	ck_assert(!stays_full(1, 0));
	ck_assert(stays_full(50, 110000));
	ck_assert(!stays_full(50, 125000));
}
END_TEST

/* A thread that is in the kernel for most of its time has few samples. */
START_TEST(time_in_which_no_interrupt_met_the_program_counts_once)
{
	struct rate_seen seen = { 0, 0 }, now = { 0, 0 };
	struct rate r;

	rate_init(&r, 100 * PERCENT);
	rate_thread_begins(&r);
	for (int i = 0; i < 10; i++) {
		signal_came(&r, PERIOD, true);
		seen.cpu += PERIOD;
		now.cpu += 10 * PERIOD;
		rate_look(&r, &seen, &now, true);
	}
	ck_assert_uint_eq(r.passed, 100 * PERIOD);
	ck_assert_int_eq(atomic_load(&r.left), RATE_FIRST_NS - 100 * PERIOD);
	/* A period that has just begun is a whole one to rate_pass(). */
	signal_came(&r, PERIOD, true);
	seen.cpu += PERIOD;
	now.cpu += PERIOD / 2;
	rate_look(&r, &seen, &now, true);
	now.cpu += PERIOD;
	rate_look(&r, &seen, &now, true);
	ck_assert_uint_eq(r.passed, now.cpu);
	ck_assert(!rate_wants_full(&r, true));
}
END_TEST

/*
 * The kernel's timers of one thread. A timer stands while its event is
 * disabled, and goes on with what is left.
 */
struct fake {
	uint64_t left[2]; /* until the inherited event of each rate comes */
	uint64_t own;     /* the young thread's */
	uint32_t own_weight;
	struct phase phase;
	double weights; /* of its samples */
};

static void begin(struct fake *k, bool slow, struct rng *rng)
{
	k->left[0] = PERIOD;
	k->left[1] = RATE_SLOW * PERIOD;
	k->own_weight = slow ? RATE_SLOW : 1;
	k->own = phase_begin(&k->phase, 0, k->own_weight * PERIOD, rng);
	k->weights = 0;
}

static bool passes(uint64_t *left)
{
	*left -= *left < STEP ? *left : STEP;
	return !*left;
}

static void run(struct fake *k, uint64_t now, bool slow, struct rng *rng)
{
	uint64_t period = k->own_weight * PERIOD, interval;

	if (k->phase.own && passes(&k->own)) {
		if (phase_own(&k->phase, now, period, &interval))
			k->weights += k->own_weight;
		k->own = period;
	}
	if (passes(&k->left[slow])) {
		k->left[slow] = (slow ? RATE_SLOW : 1) * PERIOD;
		if (phase_inherited(&k->phase, now, rng))
			k->weights += slow ? RATE_SLOW : 1;
	}
}

/*
 * The oracle is an exact count: the CPU time of threads of random lengths, in
 * periods. The rate changes at random, on average each 100 ms. What a rate's
 * timer has left when the thread ends is lost, once in its life: half a slow
 * period.
 */
START_TEST(weights_add_up_to_the_cpu_time_whatever_the_rate)
{
	double sum = 0, squares = 0, periods = 0, error;
	struct rng rng;

	rng_seed(&rng, 5, 0);
	for (int i = 0; i < THREADS; i++) {
		uint32_t steps = 1 + rng_below(&rng, LONGEST);
		bool slow = rng_below(&rng, 2);
		struct fake k;
		double off;

		begin(&k, slow, &rng);
		for (uint64_t s = 1; s <= steps; s++) {
			run(&k, s * STEP, slow, &rng);
			slow ^= rng_below(&rng, 1000) == 0;
		}
		off = k.weights - (double)(steps * STEP) / (double)PERIOD;
		sum += off;
		squares += off * off;
		periods += (double)(steps * STEP) / (double)PERIOD;
	}
	error = sqrt(squares);
	ck_assert_double_lt(error, .001 * periods); /* so much can be seen */
	ck_assert_double_lt(sum, 3 * error);
	ck_assert_double_gt(sum, -3 * error - .5 * RATE_SLOW * THREADS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rate");
	TCase *t = tcase_create("rate");

	tcase_add_test(t, the_slow_rate_alone_keeps_within_the_budget);
	tcase_add_test(t, the_full_rate_is_taken_as_far_as_the_budget_goes);
	tcase_add_test(t, the_rate_is_full_at_first_and_where_sharing_is_met);
	tcase_add_test(t, threads_without_number_do_not_keep_the_rate_full);
	tcase_add_test(t, switches_of_threads_use_up_the_budget);
	tcase_add_test(t,
		       time_in_which_no_interrupt_met_the_program_counts_once);
	tcase_add_test(t, weights_add_up_to_the_cpu_time_whatever_the_rate);
	suite_add_tcase(s, t);
	return run_suite(s);
}
