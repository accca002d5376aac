/* SPDX-License-Identifier: MIT */
/*
 * test_instr_draw - which accesses the source instr samples
 *
 * A stream of accesses runs through the counters, as the hooks do it.
 */
#include <check.h>
#include <math.h>
#include <string.h>

#include "preload/core/runtime.h"
#include "preload/instr/config.h"
#include "preload/instr/counters.h"
#include "preload/instr/draw.h"
#include "preload/instr/state.h"
#include "preload/instr/transfer.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	ACCESSES = 4000000,
};

struct runtime runtime;
struct instr_config instr_config;
static struct instr_state state;
static struct thread thread;
static struct instr_thread hooks;
static bool awaits;

void instr_counters_load(struct instr_thread *h, enum instr_class class,
			 int64_t n)
{
	h->left[class] = n;
}

bool instr_transfer_awaits(void)
{
	return awaits;
}

static void start(uint64_t period, bool exact)
{
	memset(&state, 0, sizeof(state));
	memset(&thread, 0, sizeof(thread));
	memset(&hooks, 0, sizeof(hooks));
	memset(&instr_config, 0, sizeof(instr_config));
	instr_config.period = period;
	instr_config.comm = true;
	instr_config.exact = exact;
	runtime.config.paths = false;
	awaits = true;
	thread.source = &state;
	rng_seed(&thread.rng, 7, 1);
	instr_draw_init();
	instr_draw_start(&thread);
	instr_draw_begin(&thread, &hooks);
}

/* One access of @class; what it is. */
static enum instr_drawn make(enum instr_class class)
{
	if (--hooks.left[class] >= 0 && !instr_config.exact)
		return DRAW_NONE;
	return instr_draw(&thread, &hooks, class);
}

static bool is_sample(enum instr_drawn d)
{
	return d == DRAW_STOP || d == DRAW_NOW;
}

/* Five standard errors of a count of samples, as if it were Poisson. */
static void check_rate(double samples, double accesses, double period)
{
	ck_assert_double_le(fabs(samples - accesses / period),
			    5 * sqrt(accesses / period));
}

static const struct {
	uint64_t period;
	bool exact;
} ways[] = { { 200, false },
	     { 200, true },
	     { 1000, false },
	     { 100, false } };

START_TEST(of_stores_one_in_a_period_is_a_sample_and_stops_come_before)
{
	uint64_t period = ways[_i].period, samples = 0, stops = 0, ahead = 0;
	int64_t soon = -1;

	start(period, ways[_i].exact);
	for (int64_t i = 0; i < ACCESSES; i++) {
		enum instr_drawn d = make(INSTR_STORE);

		if (d == DRAW_SOON) {
			ck_assert_int_eq(soon, -1);
			soon = i;
		} else if (d == DRAW_NOW) {
			ck_assert_int_ge(soon, 0);
			ahead += i - soon;
			soon = -1;
		}
		stops += d == DRAW_STOP;
		samples += is_sample(d);
	}
	check_rate(samples, ACCESSES, period);
	/* Only the first may be one that no stop has announced. */
	ck_assert_uint_le(stops, 1);
	/* A geometric distance, so its standard deviation is its mean. */
	ck_assert_double_eq_tol(ahead / (double)samples, 0.38 * period,
				5 * 0.38 * period / sqrt(samples));
}
END_TEST

/* Threads that store a few times each: the first stores count like others. */
START_TEST(of_short_threads_one_store_in_a_period_is_a_sample_too)
{
	enum {
		THREADS = 100000,
		STORES = 20,
	};
	uint64_t samples = 0;
	struct rng r;

	start(200, false);
	rng_seed(&r, 5, 5);
	for (int i = 0; i < THREADS; i++) {
		rng_seed(&thread.rng, rng_next(&r), 1);
		instr_draw_start(&thread);
		instr_draw_begin(&thread, &hooks);
		for (int k = 0; k < STORES; k++)
			samples += is_sample(make(INSTR_STORE));
	}
	check_rate(samples, THREADS * STORES, 200);
}
END_TEST

/*
 * A thread stores to its own lines while it waits for something, then to
 * others. Time is in stores; a stop takes as long as STOP of them. What comes
 * after a wait is a sample too often by what the stops take of the time, and no
 * more. (With stops 16 to 48 stores before each sample it was 1.4 times.)
 */
START_TEST(what_comes_after_a_wait_is_a_sample_as_often_as_any)
{
	enum {
		PERIOD = 1000,
		STOP = 20,
		WAITS = 200000,
		AFTER = 48,
	};
	uint64_t samples = 0;
	double most = 2.7 * STOP / PERIOD;
	struct rng r;

	start(PERIOD, false);
	rng_seed(&r, 9, 9);
	for (int i = 0; i < WAITS; i++) {
		int64_t left = 100 + (int64_t)rng_below(&r, 400);

		for (; left > 0; left--)
			if (make(INSTR_STORE) == DRAW_SOON)
				left -= STOP;
		for (int k = 0; k < AFTER; k++)
			samples += is_sample(make(INSTR_STORE));
	}
	ck_assert_double_le(samples,
			    WAITS * AFTER / (double)PERIOD * (1 + most) +
				    5 * sqrt(WAITS * AFTER / (double)PERIOD));
	ck_assert_double_ge(samples, WAITS * AFTER / (double)PERIOD -
					     5 * sqrt(WAITS * AFTER / (double)PERIOD));
}
END_TEST

/* The stop itself is a random moment: so is the store before it. */
START_TEST(a_store_just_before_a_stop_is_a_sample_as_often_as_any)
{
	uint64_t before = 0, stops = 0;
	bool sample = false;

	start(200, false);
	for (int i = 0; i < ACCESSES; i++) {
		enum instr_drawn d = make(INSTR_STORE);

		stops += d == DRAW_SOON;
		before += d == DRAW_SOON && sample;
		sample = is_sample(d);
	}
	check_rate(before, stops, 200);
}
END_TEST

/* Two classes at once: a sample may be of another class than its stop. */
START_TEST(of_each_class_one_store_in_a_period_is_a_sample)
{
	static const enum instr_class class[2] = { INSTR_STORE, INSTR_MODIFY };
	uint64_t samples[2] = { 0 }, accesses[2] = { 0 }, stops = 0;
	bool announced = false;
	struct rng r;

	start(100, false);
	rng_seed(&r, 3, 3);
	for (int i = 0; i < ACCESSES; i++) {
		int c = rng_below(&r, 20) == 0;
		enum instr_drawn d = make(class[c]);

		accesses[c]++;
		samples[c] += is_sample(d);
		stops += d == DRAW_STOP;
		if (d == DRAW_SOON || d == DRAW_NOW) {
			ck_assert(announced == (d == DRAW_NOW));
			announced = d == DRAW_SOON;
		}
	}
	ck_assert_uint_le(stops, 1);
	for (int c = 0; c < 2; c++)
		check_rate(samples[c], accesses[c], 100);
}
END_TEST

START_TEST(of_loads_each_period_has_one_sample)
{
	uint64_t samples = 0;

	start(100, false);
	for (int i = 0; i < 100 * 1000; i++) {
		enum instr_drawn d = make(INSTR_LOAD);

		ck_assert(d == DRAW_NONE || d == DRAW_STOP);
		samples += is_sample(d);
		if (i % 100 == 99)
			ck_assert_uint_eq(samples, i / 100 + 1);
	}
}
END_TEST

START_TEST(nothing_is_announced_where_callers_are_asked_for)
{
	uint64_t samples = 0;

	start(200, false);
	runtime.config.paths = true;
	instr_draw_begin(&thread, &hooks);
	for (int i = 0; i < ACCESSES; i++) {
		enum instr_drawn d = make(INSTR_STORE);

		ck_assert(d == DRAW_NONE || d == DRAW_STOP);
		samples += is_sample(d);
	}
	check_rate(samples, ACCESSES, 200);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("instr_draw");
	TCase *tc = tcase_create("instr_draw");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(
		tc, of_stores_one_in_a_period_is_a_sample_and_stops_come_before,
		0, sizeof(ways) / sizeof(ways[0]));
	tcase_add_test(tc,
		       of_short_threads_one_store_in_a_period_is_a_sample_too);
	tcase_add_test(tc, what_comes_after_a_wait_is_a_sample_as_often_as_any);
	tcase_add_test(tc,
		       a_store_just_before_a_stop_is_a_sample_as_often_as_any);
	tcase_add_test(tc, of_each_class_one_store_in_a_period_is_a_sample);
	tcase_add_test(tc, of_loads_each_period_has_one_sample);
	tcase_add_test(tc, nothing_is_announced_where_callers_are_asked_for);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
