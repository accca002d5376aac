/* SPDX-License-Identifier: MIT */
/*
 * test_report_sighted - lines that went from thread to thread, and no sample
 * met
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

enum {
	LOOKS = 1000,
	A_LOOK = 20, /* accesses */
	THREADS = 3,
};

#define LINE UINT64_C(0x7f0000001000)

static struct fake fake;

static void begin(void)
{
	fake_begin(&fake);
	for (int i = 0; i < THREADS; i++) {
		struct cdp_thread *t = fake_thread(&fake, "worker");

		t->looks = LOOKS;
		t->look_accesses = LOOKS * A_LOOK;
	}
}

static struct cdp_pair *sighting(uint32_t from, uint32_t to, uint64_t line,
				 uint64_t meetings)
{
	struct cdp_pair *p = fake_pair(&fake, from, to, line + 8 * from,
				       line + 8 * to, meetings);

	p->by = DETECTED_BY_LOOK;
	p->periods_q8 = 256 * meetings;
	return p;
}

static json_t *sighted_line(json_t *j, int i)
{
	return json_array_get(at(j, "communication.sighted.lines"), i);
}

static size_t sighted_lines(json_t *j)
{
	return json_array_size(at(j, "communication.sighted.lines"));
}

START_TEST(meetings_are_summed_by_line_and_are_no_detections)
{
	json_t *j, *line;

	begin();
	sighting(0, 1, LINE + 64, 2);
	sighting(0, 1, LINE, 9);
	sighting(1, 0, LINE, 8)->sharing = SHARING_TRUE;
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, "communication.total.estimate"), 0);
	ck_assert_int_eq(int_at(j, "communication.by_trap"), 0);
	ck_assert_uint_eq(json_array_size(at(j, "communication.cells")), 0);
	ck_assert_uint_eq(json_array_size(at(j, "communication.sites")), 0);
	ck_assert_int_eq(int_at(j, "communication.sighted.windows"),
			 THREADS * LOOKS);
	ck_assert_int_eq(int_at(j, "communication.sighted.accesses"),
			 THREADS * LOOKS * A_LOOK);
	ck_assert_uint_eq(sighted_lines(j), 2);
	line = sighted_line(j, 0);
	ck_assert_str_eq(text_at(line, "line"), "0x7f0000001000");
	ck_assert_int_eq(int_at(line, "transfers_at_least"), 18);
	ck_assert_int_eq(int_at(line, "false"), 9);
	ck_assert_int_eq(int_at(line, "true"), 8);
	ck_assert_uint_eq(json_array_size(at(line, "pairs")), 2);
	line = json_array_get(at(line, "pairs"), 0);
	ck_assert_int_eq(int_at(line, "publisher"), 0);
	ck_assert_int_eq(int_at(line, "detector"), 1);
	ck_assert_int_eq(int_at(line, "meetings"), 9);
	json_decref(j);
}
END_TEST

START_TEST(the_text_says_it_in_words)
{
	char *text;

	begin();
	sighting(0, 1, LINE, 9);
	sighting(1, 0, LINE, 8)->detector_flags = ACCESS_LOAD;
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ck_assert(verb_says(text, "No sharing between threads found"));
	ck_assert(verb_says(text, "1 cache line was seen to go from thread to "
				  "thread that no sample met"));
	ck_assert(verb_says(text, "changed hands at least 18 times; false"));
	ck_assert(verb_says(text, "9: thr 0 stored at"));
	ck_assert(verb_says(text, "then thr 0 loaded at"));
	ck_assert(verb_says(text, "3,000 windows with 60,000 accesses"));
	free(text);
}
END_TEST

/* Also where the thread that is asked for had no part in the detections. */
START_TEST(a_line_with_detections_is_in_the_map_alone)
{
	struct verb v;
	json_t *j;

	begin();
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 3);
	sighting(0, 1, LINE, 9);
	sighting(2, 1, LINE, 5);
	sighting(0, 1, LINE + 64, 2);
	sighting(2, 1, LINE + 128, 2);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, "communication.total.estimate"), 3);
	ck_assert_uint_eq(json_array_size(at(j, "communication.lines")), 1);
	ck_assert_uint_eq(sighted_lines(j), 2);
	ck_assert_str_eq(text_at(sighted_line(j, 0), "line"), "0x7f0000001040");
	json_decref(j);
	v = VERB(cmd_report, "report", "--json", "--thread", "2", fake.dir);
	j = json_loads(v.out, 0, NULL);
	ck_assert_ptr_nonnull(j);
	ck_assert_uint_eq(sighted_lines(j), 1);
	ck_assert_str_eq(text_at(sighted_line(j, 0), "line"), "0x7f0000001080");
	json_decref(j);
	verb_free(&v);
}
END_TEST

START_TEST(absurd_counts_are_borne)
{
	json_t *j;

	begin();
	sighting(2, 0, LINE, UINT64_MAX);
	sighting(0, 2, LINE, UINT64_MAX);
	sighting(99, 2, LINE + 64, 1);
	sighting(0, 1, 0, 1);
	fake_end(&fake);
	free(report_text_of(fake.dir));
	j = report_of(fake.dir);
	ck_assert_uint_eq(sighted_lines(j), 2);
	json_decref(j);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_sighted");
	TCase *t = tcase_create("report_sighted");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, meetings_are_summed_by_line_and_are_no_detections);
	tcase_add_test(t, the_text_says_it_in_words);
	tcase_add_test(t, a_line_with_detections_is_in_the_map_alone);
	tcase_add_test(t, absurd_counts_are_borne);
	suite_add_tcase(s, t);
	return run_suite(s);
}
