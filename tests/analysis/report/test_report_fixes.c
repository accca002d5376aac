/* SPDX-License-Identifier: MIT */
/*
 * test_report_fixes - what the report proposes to move apart
 */
#include <jansson.h>
#include <math.h>

#include "analysis/attribution/line_time.h"
#include "analysis/profile/sharing_cost.h"
#include "tests/fake/fake_profile.h"
#include "tests/fake/touched.h"
#include "tests/run_suite.h"
#include "tests/run_verb.h"

static struct fake fake;

static void begin(void)
{
	fake_begin(&fake);
	fake_own_maps(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
}

/* The fixes that the report proposes, borrowed from *@report. */
static json_t *fixes(json_t **report)
{
	struct verb v;

	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir, "--json");
	ck_assert_int_eq(v.status, 0);
	*report = json_loads(v.out, 0, NULL);
	ck_assert_ptr_nonnull(*report);
	verb_free(&v);
	return json_object_get(json_object_get(*report, "communication"),
			       "fixes");
}

/* The only field of group @i, and of nobody else. */
static const char *field_of(json_t *fix, size_t i)
{
	json_t *g = json_array_get(json_object_get(fix, "groups"), i);

	ck_assert_uint_eq(json_array_size(json_object_get(g, "fields")), 1);
	return json_string_value(
		json_array_get(json_object_get(g, "fields"), 0));
}

START_TEST(objects_of_one_type_are_to_be_aligned)
{
	uint64_t at = offsetof(struct worker, part.misses);
	json_t *report, *list, *fix;

	begin();
	touched_by(&fake, touches_misses, LINE + at,
		   LINE + sizeof(struct worker) + at, 5);
	/* The same on another line is the same fix. */
	touched_by(&fake, touches_misses, LINE + 640 + at,
		   LINE + 640 + sizeof(struct worker) + at, 3);
	list = fixes(&report);
	ck_assert_uint_eq(json_array_size(list), 1);
	fix = json_array_get(list, 0);
	ck_assert_str_eq(text_at(fix, "kind"), "objects");
	ck_assert_str_eq(text_at(fix, "object"), "struct worker");
	ck_assert_str_eq(field_of(fix, 0), "struct worker #1.part.misses");
	ck_assert_str_eq(field_of(fix, 1), "struct worker #2.part.misses");
	ck_assert_int_eq(json_integer_value(json_object_get(fix, "detections")),
			 8);
	ck_assert_int_eq(json_integer_value(json_object_get(fix, "lines")), 2);
	json_decref(report);
}
END_TEST

START_TEST(members_of_one_object_are_to_be_separated)
{
	uint64_t hits = offsetof(struct worker, part.hits);
	uint64_t misses = offsetof(struct worker, part.misses);
	json_t *report, *list, *fix;

	begin();
	touched_by(&fake, touches_misses, LINE + misses, LINE + hits, 5)
		->detector_ip = 0;
	list = fixes(&report);
	ck_assert_uint_eq(json_array_size(list), 1);
	fix = json_array_get(list, 0);
	ck_assert_str_eq(text_at(fix, "kind"), "members");
	ck_assert_str_eq(field_of(fix, 0), "struct worker.part.hits");
	ck_assert_str_eq(field_of(fix, 1), "struct worker.part.misses");
	json_decref(report);
}
END_TEST

START_TEST(elements_of_an_array_are_to_be_aligned)
{
	json_t *report, *list, *fix;

	begin();
	touched_by(&fake, touches_variable, (uintptr_t)&variable[1].hits,
		   (uintptr_t)&variable[2].hits, 5);
	list = fixes(&report);
	fix = json_array_get(list, 0);
	ck_assert_str_eq(text_at(fix, "kind"), "elements");
	ck_assert_str_eq(text_at(fix, "object"), "variable");
	ck_assert_str_eq(field_of(fix, 0), "variable[1].hits");
	ck_assert_str_eq(field_of(fix, 1), "variable[2].hits");
	json_decref(report);
}
END_TEST

START_TEST(members_of_one_element_are_to_be_separated)
{
	json_t *report, *list;

	begin();
	touched_by(&fake, touches_variable, (uintptr_t)&variable[2].misses,
		   (uintptr_t)&variable[2].hits, 5);
	list = fixes(&report);
	ck_assert_uint_eq(json_array_size(list), 1);
	ck_assert_str_eq(text_at(json_array_get(list, 0), "kind"), "members");
	json_decref(report);
}
END_TEST

START_TEST(nothing_is_proposed_where_padding_does_not_help)
{
	uint64_t at = offsetof(struct worker, part.misses);
	struct cdp_pair *p;
	json_t *report;

	begin();
	/* True sharing of one member, by both. */
	touched_by(&fake, touches_misses, LINE + at, LINE + at, 50);
	/* False sharing that padding does not end. */
	p = touched_by(&fake, touches_misses, LINE + 640 + at,
		       LINE + 640 + sizeof(struct worker) + at, 30);
	p->unavoidable = 30;
	ck_assert_uint_eq(json_array_size(fixes(&report)), 0);
	json_decref(report);
}
END_TEST

/* Most of the sharing is true, or of no known type. */
START_TEST(a_fix_of_little_use_is_not_the_answer)
{
	uint64_t at = offsetof(struct worker, part.misses);
	char *text;

	begin();
	touched_by(&fake, touches_misses, LINE + at, LINE + at, 96);
	touched_by(&fake, touches_misses, LINE + 640 + at,
		   LINE + 640 + sizeof(struct worker) + at, 4);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ck_assert_ptr_null(strstr(text, "The best fix"));
	ASSERT_SAYS(text, "What to change, by what padding avoids");
	free(text);
}
END_TEST

START_TEST(the_text_shows_the_layout_with_its_users)
{
	uint64_t at = offsetof(struct worker, part.misses);
	char *text;

	begin();
	touched_by(&fake, touches_misses, LINE + at,
		   LINE + sizeof(struct worker) + at, 5);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "The best fix: give each struct worker lines of its "
			  "own; that avoids about 100 % of the detections");
	ASSERT_SAYS(text, "What to change, by what padding avoids");
	ASSERT_SAYS(text, "1. struct worker: 100 % of the detections");
	ASSERT_SAYS(text, "struct worker #2, 24 bytes, begins at byte 24 of a "
			  "line");
	ASSERT_SAYS(text, "16 8 part.misses");
	free(text);
}
END_TEST

/* A line of its own makes updates take a quarter of the time. */
static const struct sharing_cost cost = {
	.round_trip_ns = 80,
	.alone = { { 0.25, 0.24, 0.26 },
		   { 1, 0.9, 1.1 },
		   { 0.1, 0.09, 0.11 },
		   { 0.6, 0.5, 0.7 } },
};

/* Two threads update neighbours on one line, so often that the board sees @n.
 */
static void update_neighbours(uint64_t n)
{
	uint64_t at = offsetof(struct worker, part.misses);
	struct cdp_pair *p;

	begin();
	p = touched_by(&fake, touches_misses, LINE + at,
		       LINE + sizeof(struct worker) + at, n);
	p->by = DETECTED_BY_BOARD;
	p->publisher_flags = p->detector_flags = ACCESS_LOAD | ACCESS_STORE;
}

static double gain(json_t *fix, const char *name)
{
	return json_number_value(
		json_object_get(json_object_get(fix, "gain"), name));
}

/*
 * Both threads have 950 samples, one each 2 ms, in a run of 2 s.
 */
START_TEST(the_time_that_a_fix_saves_is_predicted)
{
	struct line_users users = { 2, 2, 950 };
	double n = round(line_detections(&users, 0.8)), seconds;
	json_t *report, *fix;

	update_neighbours((uint64_t)n);
	ck_assert_int_eq(sharing_cost_write(&cost, fake.dirfd), 0);
	fix = json_array_get(fixes(&report), 0);
	seconds = line_time(&users, n).share * 0.75 * 950 * 0.002;
	ck_assert_double_eq_tol(gain(fix, "seconds"), seconds, 1e-6);
	ck_assert_double_eq_tol(gain(fix, "low"), seconds / M_SQRT2, 1e-6);
	/* No more than the run. */
	ck_assert_double_eq_tol(gain(fix, "high"), fmin(2, seconds * M_SQRT2),
				1e-6);
	ck_assert_double_eq(gain(fix, "round_trip_ns"), 80);
	json_decref(report);
}
END_TEST

START_TEST(few_detections_predict_no_time)
{
	char *text;

	update_neighbours(5);
	ck_assert_int_eq(sharing_cost_write(&cost, fake.dirfd), 0);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "How much time that saves cannot be told to a factor "
			  "of two");
	free(text);
}
END_TEST

START_TEST(without_a_probe_that_can_be_true_no_time_is_predicted)
{
	struct sharing_cost wrong = cost;
	json_t *report, *fix;

	wrong.alone[COST_LOAD].middle = 0; /* no longer in order */
	update_neighbours(400);
	if (_i)
		ck_assert_int_eq(sharing_cost_write(&wrong, fake.dirfd), 0);
	fix = json_array_get(fixes(&report), 0);
	ck_assert_ptr_nonnull(fix);
	ck_assert_ptr_null(json_object_get(fix, "gain"));
	json_decref(report);
}
END_TEST

/* Accesses that cost as much alone save nothing, so nothing is promised. */
START_TEST(sharing_that_costs_nothing_predicts_no_gain)
{
	struct sharing_cost free_of_cost = cost;
	json_t *report, *fix;

	free_of_cost.alone[COST_UPDATE] =
		(struct cost_ratio){ 1.01, 0.97, 1.02 };
	update_neighbours(400);
	ck_assert_int_eq(sharing_cost_write(&free_of_cost, fake.dirfd), 0);
	fix = json_array_get(fixes(&report), 0);
	ck_assert_ptr_null(json_object_get(fix, "gain"));
	json_decref(report);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_fixes");
	TCase *t = tcase_create("report_fixes");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, objects_of_one_type_are_to_be_aligned);
	tcase_add_test(t, members_of_one_object_are_to_be_separated);
	tcase_add_test(t, elements_of_an_array_are_to_be_aligned);
	tcase_add_test(t, members_of_one_element_are_to_be_separated);
	tcase_add_test(t, nothing_is_proposed_where_padding_does_not_help);
	tcase_add_test(t, a_fix_of_little_use_is_not_the_answer);
	tcase_add_test(t, the_text_shows_the_layout_with_its_users);
	tcase_add_test(t, the_time_that_a_fix_saves_is_predicted);
	tcase_add_test(t, few_detections_predict_no_time);
	tcase_add_loop_test(
		t, without_a_probe_that_can_be_true_no_time_is_predicted, 0, 2);
	tcase_add_test(t, sharing_that_costs_nothing_predicts_no_gain);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
