/* SPDX-License-Identifier: MIT */
/*
 * test_phase - samples per CPU time, whatever a thread's length
 *
 * Threads as the kernel runs them: an inherited event at each period, an own
 * event at each of its intervals, or a timer that is looked at on ticks. Some
 * interrupts meet the kernel and are dropped.
 */
#include <check.h>
#include <math.h>

#include "preload/sources/clock/phase.h"
#include "tests/run_suite.h"

enum {
	THREADS = 10000,
};

#define PERIOD  5000000ull
#define TICK    4000000ull
#define LATENCY 1000 /* from an interrupt to the handler, ns */

static struct rng rng;

/* Samples of one thread of @length ns, which are in the kernel at @kernel %. */
static uint32_t live(uint64_t length, uint32_t kernel, uint64_t latency)
{
	uint64_t inherited = PERIOD, own, interval;
	uint32_t samples = 0;
	struct phase p;

	own = interval = phase_begin(&p, 0, PERIOD, &rng);
	for (;;) {
		bool mine = p.own && own < inherited;
		uint64_t now = mine ? own : inherited, next = 0;

		if (now > length)
			return samples;
		own += mine ? interval : 0;
		inherited += mine ? 0 : PERIOD;
		if (rng_below(&rng, 100) < kernel)
			continue;
		samples += mine ? phase_own(&p, now + latency, PERIOD, &next)
				: phase_inherited(&p, now + latency, &rng);
		if (next) {
			interval = next;
			own = now + latency + next;
		}
	}
}

/*
 * The mean of the threads' samples is @want within four standard errors, and
 * @slack of it.
 */
static void want_mean(uint64_t length, uint32_t kernel, double slack,
		      double want)
{
	double sum = 0, squares = 0, mean, error;

	for (int i = 0; i < THREADS; i++) {
		double n = live(length, kernel, LATENCY);

		sum += n;
		squares += n * n;
	}
	mean = sum / THREADS;
	error = sqrt((squares / THREADS - mean * mean) / THREADS);
	ck_assert_msg(fabs(mean - want) <= 4 * error + slack * want + 1e-9,
		      "%g samples of %lu ns, not %g +- %g", mean, length, want,
		      error);
}

START_TEST(young_threads_have_as_many_samples_as_cpu_time)
{
	/* In steps that meet the period and its multiples, and do not. */
	for (uint64_t t = 100000; t < PHASE_PERIODS * PERIOD; t += 700000)
		want_mean(t, 0, 0, (double)t / PERIOD);
	want_mean(PERIOD, 0, 0, 1);
	want_mean(4 * PERIOD, 0, 0, 4);
}
END_TEST

START_TEST(threads_grown_old_lack_or_have_half_a_sample_at_most)
{
	for (int k = PHASE_PERIODS; k < 3 * PHASE_PERIODS; k += 5) {
		want_mean(k * PERIOD + 1, 0, 0, k + .5);
		want_mean(k * PERIOD + PERIOD / 2, 0, 0, k + .5);
	}
}
END_TEST

/*
 * Where the first interrupt was dropped, the event repeats at a wrong interval
 * until it meets the program, and may miss the next one that is due.
 */
START_TEST(interrupts_dropped_in_the_kernel_are_not_made_up_for)
{
	for (uint32_t kernel = 10; kernel < 60; kernel += 20)
		for (uint64_t t = 300000; t < 4 * PERIOD; t += 2300000)
			want_mean(t, kernel, .1,
				  (double)t / PERIOD * (100 - kernel) / 100);
}
END_TEST

/*
 * Two events cost twice as much at each switch of threads, whether their
 * interrupts meet the program or not.
 */
START_TEST(
	the_own_event_ends_by_time_however_seldom_interrupts_meet_the_program)
{
	struct phase p;

	phase_begin(&p, 1000 * PERIOD, PERIOD, &rng);
	ck_assert(!phase_inherited(&p, 1003 * PERIOD, &rng));
	ck_assert(p.own);
	phase_inherited(&p, 1008 * PERIOD - LATENCY, &rng);
	ck_assert(!p.own);
	/* Those that it misses before it is steady are not made up for. */
	for (int k = 20; k < 100; k += 20)
		want_mean(k * PERIOD + 1, 90, .6 / (k * .1), k * .1);
}
END_TEST

START_TEST(thread_without_an_own_event_is_sampled_by_the_inherited_one)
{
	struct phase p = { 0 };
	uint64_t interval = 7;

	ck_assert(phase_inherited(&p, 1, &rng));
	ck_assert(!phase_own(&p, 1, PERIOD, &interval));
	ck_assert_uint_eq(interval, 0);
}
END_TEST

/* A tick somewhere in each TICK of the thread's time; the timer repeats. */
static uint32_t live_by_ticks(uint64_t length, uint64_t period)
{
	uint64_t due = phase_of_timer(period, TICK, &rng);
	uint32_t samples = 0;

	ck_assert_uint_gt(due, 0);
	for (uint64_t at = 1 + rng_below(&rng, TICK); at <= length; at += TICK)
		for (; due <= at; due += period)
			samples++;
	return samples;
}

START_TEST(a_timer_looked_at_on_ticks_is_as_fair)
{
	static const uint64_t lengths[] = { 500000,  1000000,  2000000,
					    5000000, 20000000, 33000000 };

	for (int i = 0; i < 6; i++)
		for (uint64_t period = TICK; period < 4 * TICK;
		     period += TICK) {
			double want = (double)lengths[i] / period, sum = 0;
			double error = .5 / sqrt(THREADS);

			for (int j = 0; j < THREADS; j++)
				sum += live_by_ticks(lengths[i], period);
			/* One of two neighbours, or three: at most 1/2 off. */
			ck_assert_double_le(fabs(sum / THREADS - want),
					    5 * error);
		}
}
END_TEST

START_TEST(a_period_has_whole_ticks)
{
	ck_assert_uint_eq(phase_ticks(5000000, 4000000), 1);
	ck_assert_uint_eq(phase_ticks(1000000, 4000000), 1);
	ck_assert_uint_eq(phase_ticks(6000000, 4000000), 2);
	ck_assert_uint_eq(phase_ticks(5000000, 1000000), 5);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("phase");
	TCase *t = tcase_create("phase");

	rng_seed(&rng, 1, 0);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, young_threads_have_as_many_samples_as_cpu_time);
	tcase_add_test(t, threads_grown_old_lack_or_have_half_a_sample_at_most);
	tcase_add_test(t, interrupts_dropped_in_the_kernel_are_not_made_up_for);
	tcase_add_test(
		t,
		the_own_event_ends_by_time_however_seldom_interrupts_meet_the_program);
	tcase_add_test(
		t, thread_without_an_own_event_is_sampled_by_the_inherited_one);
	tcase_add_test(t, a_timer_looked_at_on_ticks_is_as_fair);
	tcase_add_test(t, a_period_has_whole_ticks);
	suite_add_tcase(s, t);
	return run_suite(s);
}
