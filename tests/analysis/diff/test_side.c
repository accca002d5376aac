/* SPDX-License-Identifier: MIT */
/*
 * test_side - what diff takes from a profile
 */
#include "analysis/diff/diff.h"
#include "analysis/diff/side.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_suite.h"

#define LINE UINT64_C(0x7f0000001000)

enum {
	SLOW = 4,
	FOUND = 50,
	SAMPLES = 950, /* of a thread; fake_thread */
};

/* Two threads that detect @n times, with the weight @weight each. */
static void record(struct fake *f, uint64_t n, uint64_t weight)
{
	struct cdp_thread *t;

	fake_begin(f);
	for (int i = 0; i < 2; i++) {
		t = fake_thread(f, "worker");
		t->samples_skipped = (weight - 1) * SAMPLES;
	}
	t->squares[SHARING_FALSE] = n * weight * weight;
	fake_pair(f, 0, 1, LINE, LINE + 8, n * weight);
	fake_end(f);
}

/* A slow sample finds what SLOW samples at the full rate would find. */
START_TEST(weights_change_neither_rates_nor_how_certain_they_are)
{
	struct side one = { 0 }, slow = { 0 };
	struct run_count a, b;
	struct interval by;
	struct fake f;

	record(&f, FOUND, 1);
	side_add(&one, f.dir, false);
	record(&f, FOUND, SLOW);
	side_add(&slow, f.dir, false);
	ck_assert_double_eq(one.run->samples, 2 * SAMPLES);
	ck_assert_double_eq(slow.run->samples, 2 * SAMPLES * SLOW);
	for (int q = QUANTITY_ALL; q <= QUANTITY_TRUE; q++) {
		a = one.run->count[q];
		b = slow.run->count[q];
		ck_assert_double_eq(b.events, a.events);
		ck_assert_double_eq(b.exposure, a.exposure);
	}
	ck_assert_double_eq(a.exposure, 2 * SAMPLES);
	ck_assert_double_eq(slow.run->count[QUANTITY_ALL].events, FOUND);
	a = run_place(one.run, PLACE_VARIABLE, one.run->place->name);
	b = run_place(slow.run, PLACE_VARIABLE, one.run->place->name);
	ck_assert_double_eq(a.events, FOUND);
	ck_assert_double_eq(b.events, FOUND);
	ck_assert_double_eq(b.exposure, a.exposure);
	diff_share(&slow, QUANTITY_FALSE, &by);
	ck_assert_double_lt(by.low, 0.95); /* 1 - 4 / (50 + 4) */
	side_release(&one);
	side_release(&slow);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("side");
	TCase *t = tcase_create("side");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t,
		       weights_change_neither_rates_nor_how_certain_they_are);
	suite_add_tcase(s, t);
	return run_suite(s);
}
