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
	     { 64, false },
	     { 40, false } };

START_TEST(of_stores_one_in_a_period_is_a_sample_and_stops_come_before)
{
	uint64_t period = ways[_i].period, samples = 0, stops = 0;
	int64_t soon = -1, near = 0, far = 0;

	start(period, ways[_i].exact);
	for (int64_t i = 0; i < ACCESSES; i++) {
		enum instr_drawn d = make(INSTR_STORE);

		if (d == DRAW_SOON) {
			ck_assert_int_eq(soon, -1);
			soon = i;
		} else if (d == DRAW_NOW) {
			ck_assert_int_ge(soon, 0);
			ck_assert_int_ge(i - soon, 16);
			ck_assert_int_le(i - soon, 48);
			near += i - soon == 16;
			far += i - soon == 48;
			soon = -1;
		}
		stops += d == DRAW_STOP;
		samples += is_sample(d);
	}
	check_rate(samples, ACCESSES, period);
	if (period < 64) {
		ck_assert_uint_eq(stops, samples);
		return;
	}
	/* All 33 distances are equally likely. */
	ck_assert_uint_eq(stops, 0);
	check_rate(near, samples, 33);
	check_rate(far, samples, 33);
}
END_TEST

/* The stop itself is a random moment: the store before it is a sample as often
 * as others. */
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
	check_rate(before, stops, 200 - 32);
}
END_TEST

/* Two classes at once: while one sample is announced, the other class stops. */
START_TEST(classes_do_not_take_each_others_samples)
{
	static const enum instr_class class[2] = { INSTR_STORE, INSTR_MODIFY };
	uint64_t samples[2] = { 0 }, accesses[2] = { 0 }, stops = 0;
	int announced = -1;
	struct rng r;

	start(100, false);
	rng_seed(&r, 3, 3);
	for (int i = 0; i < ACCESSES; i++) {
		int c = rng_below(&r, 4) == 0;
		enum instr_drawn d = make(class[c]);

		accesses[c]++;
		samples[c] += is_sample(d);
		stops += d == DRAW_STOP;
		if (d == DRAW_SOON) {
			ck_assert_int_eq(announced, -1);
			announced = c;
		} else if (d == DRAW_NOW) {
			ck_assert_int_eq(announced, c);
			announced = -1;
		}
	}
	ck_assert_uint_gt(stops, 0);
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
		       a_store_just_before_a_stop_is_a_sample_as_often_as_any);
	tcase_add_test(tc, classes_do_not_take_each_others_samples);
	tcase_add_test(tc, of_loads_each_period_has_one_sample);
	tcase_add_test(tc, nothing_is_announced_where_callers_are_asked_for);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
