/* SPDX-License-Identifier: MIT */
/*
 * test_report_seldom - lines that threads share too seldom for samples
 */
#include <jansson.h>
#include <stdlib.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

enum {
	FIRST = 100, /* look with a sighting */
	LOOKS = 2100,
	A_LOOK = 20, /* accesses */
};

#define LINE UINT64_C(0x7f0000001000)

static struct fake fake;

/* Two threads that were looked at, and a third that was not. */
static void begin(void)
{
	fake_begin(&fake);
	for (int i = 0; i < 3; i++) {
		struct cdp_thread *t = fake_thread(&fake, "worker");

		t->looks = i < 2 ? LOOKS : 0;
		t->look_accesses = i < 2 ? LOOKS * A_LOOK : 0;
	}
}

static void sighting(uint32_t from, uint32_t to, uint64_t line, uint64_t looks,
		     uint64_t meetings)
{
	struct cdp_pair *p = fake_pair(&fake, from, to, line + 8 * from,
				       line + 8 * to, looks);

	p->by = DETECTED_BY_LOOK;
	p->periods_q8 = 256 * meetings;
	p->first_mono = FIRST;
}

START_TEST(shares_have_their_intervals)
{
	json_t *j, *line, *thread;

	begin();
	sighting(0, 1, LINE, 12, 9);
	sighting(1, 1, LINE, 29, 0);
	sighting(1, 0, LINE, 20, 8);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, "communication.total.estimate"), 0);
	ck_assert_uint_eq(json_array_size(at(j, "communication.cells")), 0);
	ck_assert_uint_eq(json_array_size(at(j, "communication.seldom")), 1);
	line = json_array_get(at(j, "communication.seldom"), 0);
	ck_assert_str_eq(text_at(line, "line"), "0x7f0000001000");
	ck_assert_int_eq(int_at(line, "transfers_at_least"), 18);
	ck_assert(json_is_true(at(line, "false")));
	ck_assert(json_is_false(at(line, "true")));
	ck_assert_uint_eq(json_array_size(at(line, "threads")), 2);
	for (int i = 0; i < 2; i++) {
		thread = json_array_get(at(line, "threads"), i);
		if (int_at(thread, "thread") != 1)
			continue;
		ck_assert_int_eq(int_at(thread, "windows"), LOOKS);
		ck_assert_int_eq(int_at(thread, "windows_with_line"), 41);
		ck_assert_double_eq_tol(
			json_real_value(at(thread, "access_share.estimate")),
			40. / (LOOKS - FIRST) / A_LOOK, 1e-12);
		/* Wilson's interval of the 40 of 2,000 after the first */
		ck_assert_double_eq_tol(
			json_real_value(at(thread, "access_share.low")),
			.014719 / A_LOOK, 1e-6);
		ck_assert_double_eq_tol(
			json_real_value(at(thread, "access_share.high")),
			.027124 / A_LOOK, 1e-6);
	}
	json_decref(j);
}
END_TEST

START_TEST(the_text_says_it_in_words)
{
	char *text;

	begin();
	sighting(0, 1, LINE, 41, 9);
	sighting(1, 0, LINE, 1050, 8);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ck_assert(verb_says(text, "No sharing between threads found"));
	ck_assert(verb_says(text, "1 cache line goes from thread to thread"));
	ck_assert(verb_says(text, "changed hands at least 18 times"));
	ck_assert(verb_says(text, "one access in 1,000 (740 to 1,400)"));
	ck_assert(verb_says(text, "in 50 % of the windows"));
	free(text);
}
END_TEST

START_TEST(a_line_with_detections_is_in_the_map_alone)
{
	json_t *j;

	begin();
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 3);
	sighting(0, 1, LINE, 40, 9);
	sighting(0, 1, LINE + 64, 5, 2);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, "communication.total.estimate"), 3);
	ck_assert_uint_eq(json_array_size(at(j, "communication.lines")), 1);
	ck_assert_uint_eq(json_array_size(at(j, "communication.seldom")), 1);
	ck_assert_str_eq(
		text_at(json_array_get(at(j, "communication.seldom"), 0),
			"line"),
		"0x7f0000001040");
	json_decref(j);
}
END_TEST

/* A hostile file: threads without looks, and more sightings than looks. */
START_TEST(absurd_counts_are_borne)
{
	json_t *j;
	char *text;

	begin();
	sighting(2, 0, LINE, UINT64_MAX, UINT64_MAX / 256);
	sighting(0, 2, LINE, UINT64_MAX, UINT64_MAX / 256);
	sighting(99, 2, LINE + 64, 1, 1);
	sighting(2, 99, LINE + 128, 1, 0); /* no meeting: not told */
	sighting(0, 1, 0, 1, 1);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ck_assert(verb_says(text, "2 cache lines go from thread to thread"));
	free(text);
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, "communication.seldom")), 2);
	json_decref(j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_seldom");
	TCase *t = tcase_create("report_seldom");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, shares_have_their_intervals);
	tcase_add_test(t, the_text_says_it_in_words);
	tcase_add_test(t, a_line_with_detections_is_in_the_map_alone);
	tcase_add_test(t, absurd_counts_are_borne);
	suite_add_tcase(s, t);
	return run_suite(s);
}
