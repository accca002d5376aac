/* SPDX-License-Identifier: MIT */
/*
 * test_diff - what diff says of two profiles made by hand
 */
#include <math.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

#define LINE UINT64_C(0x7f0000001000)

static char dirs[8][PATH_MAX];

/*
 * Make profile @i: @wrong detections of false and @right of true sharing in
 * 1,900 samples; padding would avoid those of false sharing.
 */
static const char *make(int i, uint64_t wrong, uint64_t right,
			const char *source)
{
	static struct fake fake;
	struct cdp_header *h = fake_begin(&fake);
	struct cdp_pair *p;

	strcpy(h->source, source);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	if (wrong) {
		p = fake_pair(&fake, 0, 1, LINE, LINE + 8, wrong);
		p->avoidable = wrong;
	}
	if (right) {
		p = fake_pair(&fake, 0, 1, LINE + 64, LINE + 64, right);
		p->unavoidable = right;
	}
	fake_end(&fake);
	snprintf(dirs[i], sizeof(dirs[i]), "%s/run%d", sandbox, i);
	ck_assert_int_eq(rename(fake.dir, dirs[i]), 0);
	return dirs[i];
}

static json_t *json_of(const char *before, const char *after)
{
	struct verb v = VERB(cmd_diff, "diff", "--json", before, after);
	json_error_t error;
	json_t *j = json_loads(v.out, JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(v.status == 0, "%s", v.err);
	ck_assert_msg(j != NULL, "%s in line %d", error.text, error.line);
	verb_free(&v);
	return j;
}

static double real_at(json_t *j, const char *a, const char *b, const char *c)
{
	json_t *o = json_object_get(json_object_get(j, a), b);

	o = json_object_get(o, c);
	ck_assert_msg(json_is_number(o), "%s %s %s", a, b, c);
	return json_number_value(o);
}

START_TEST(sharing_that_is_gone_is_better)
{
	struct verb v = VERB(cmd_diff, "diff", make(0, 300, 100, "clock"),
			     make(1, 0, 100, "clock"));
	json_t *j = json_of(dirs[0], dirs[1]);
	const char *verdict;

	ck_assert_int_eq(v.status, 0);
	/* 100 of 500 are 20 %; Wilson: 16.73 to 23.73 %, as a ratio. */
	ASSERT_SAYS(v.out, "Better: after, a sample detects sharing 0.25 times "
			   "as often as before (95 % interval 0.20 to 0.31).");
	ASSERT_SAYS(v.out, "true sharing 52.6 52.6 1.00");
	ASSERT_SAYS(v.out, "that padding avoids 75 % (71 to 79) 0 % (0 to 4)");
	ASSERT_SAYS(v.out, "How much the program itself varies");
	ck_assert_double_eq_tol(real_at(j, "rates", "all", "ratio"), 0.25,
				1e-9);
	ck_assert_double_eq_tol(real_at(j, "rates", "all", "low"),
				0.1673 / 0.8327, 1e-3);
	ck_assert_double_eq_tol(real_at(j, "rates", "false", "ratio"), 0, 1e-9);
	verdict = json_string_value(json_object_get(
		json_object_get(json_object_get(j, "rates"), "true"),
		"verdict"));
	ck_assert_str_eq(verdict, "noise");
	json_decref(j);
	verb_free(&v);
}
END_TEST

START_TEST(a_side_without_sharing_bounds_the_other)
{
	struct verb v = VERB(cmd_diff, "diff", make(0, 40, 0, "clock"),
			     make(1, 0, 0, "clock"));

	/* 0 of 40: Wilson's interval ends at 8.76 %, as a ratio 0.096. */
	ASSERT_SAYS(v.out, "Better: after, nothing was found; a sample detects "
			   "sharing at most 0.10 times as often as before");
	verb_free(&v);
	v = VERB(cmd_diff, "diff", dirs[1], dirs[0]);
	ASSERT_SAYS(v.out, "Worse: before, nothing was found; after, a sample "
			   "detects sharing at least 10.4 times as often");
	verb_free(&v);
	v = VERB(cmd_diff, "diff", dirs[1], dirs[1]);
	ASSERT_SAYS(v.out, "No sharing was found on either side.");
	verb_free(&v);
}
END_TEST

START_TEST(a_few_more_detections_are_noise)
{
	struct verb v = VERB(cmd_diff, "diff", make(0, 20, 20, "clock"),
			     make(1, 25, 24, "clock"));

	ASSERT_SAYS(v.out, "No change beyond noise: after, a sample detects "
			   "sharing 1.23 times as often as before");
	verb_free(&v);
	v = VERB(cmd_diff, "diff", "--fail-on", "regress", dirs[0], dirs[1]);
	ck_assert_int_eq(v.status, 0);
	verb_free(&v);
}
END_TEST

START_TEST(rules_fail_only_beyond_noise)
{
	static const struct {
		const char *rule;
		int status;
		const char *why;
	} rows[] = {
		/* After: 60 of 80 are 75 %, 64 to 83 %; 42.1 in 1,000. */
		{ "avoidable > 10%", 1, "it is 75 % after" },
		{ "avoidable>60 %", 1, "95 % interval 64.5 to 83.2" },
		{ "avoidable > 70%", 0, "" },
		{ "false > 50%", 1, "it is 75 % after" },
		{ "true > 50%", 0, "" },
		{ "true < 50%", 1, "it is 25 % after" },
		{ "sharing > 30", 1, "it is 42.1 after" },
		{ "sharing > 40", 0, "" },
		{ "regress", 1, "more sharing after than before" },
	};

	make(0, 10, 10, "clock");
	make(1, 60, 20, "clock");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct verb v = VERB(cmd_diff, "diff", "--fail-on",
				     rows[i].rule, dirs[0], dirs[1]);

		ck_assert_msg(v.status == rows[i].status, "%s", rows[i].rule);
		ASSERT_SAYS(v.err, rows[i].why);
		ck_assert_int_eq(verb_lines(v.err), rows[i].status);
		verb_free(&v);
	}
}
END_TEST

START_TEST(several_runs_bring_their_scatter)
{
	struct verb v;

	make(0, 100, 0, "clock");
	make(1, 104, 0, "clock");
	make(2, 96, 0, "clock");
	make(3, 10, 0, "clock");
	make(4, 190, 0, "clock");
	make(5, 10, 0, "clock");
	v = VERB(cmd_diff, "diff", "-b", dirs[0], "-b", dirs[1], "-b", dirs[2],
		 "-a", dirs[3], "-a", dirs[4], "-a", dirs[5]);
	ASSERT_SAYS(v.out, "No change beyond noise");
	ck_assert(!verb_says(v.out, "varies from run to run"));
	verb_free(&v);
	/* The same sum without the scatter is a change. */
	v = VERB(cmd_diff, "diff", "-b", dirs[0], "-b", dirs[1], "-b", dirs[2],
		 "-a", make(6, 70, 0, "clock"), "-a", dirs[6], "-a", dirs[6]);
	ASSERT_SAYS(v.out, "Better: ");
	verb_free(&v);
}
END_TEST

START_TEST(what_does_not_compare_is_refused_with_one_line)
{
	struct verb v = VERB(cmd_diff, "diff", make(0, 1, 1, "clock"),
			     make(1, 1, 1, "emu"));

	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "was recorded with source clock,");
	ck_assert_int_eq(verb_lines(v.err), 1);
	ck_assert_str_eq(v.out, "");
	verb_free(&v);
	v = VERB(cmd_diff, "diff", dirs[0]);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "diff takes two directories");
	verb_free(&v);
	v = VERB(cmd_diff, "diff", dirs[0], "/nonexistent");
	ck_assert_int_eq(v.status, 1);
	ck_assert_int_eq(verb_lines(v.err), 1);
	verb_free(&v);
	for (int i = 0; i < 7; i++) {
		static const char *const bad[] = {
			"",
			"avoidable",
			"avoidable > x%",
			"sharing > 5%",
			"avoidable > 10",
			"false > 200%",
			"regressions",
		};

		v = VERB(cmd_diff, "diff", "--fail-on", bad[i], dirs[0],
			 dirs[0]);
		ck_assert_msg(v.status == 1, "'%s'", bad[i]);
		ASSERT_SAYS(v.err, "--fail-on takes regress");
		verb_free(&v);
	}
}
END_TEST

START_TEST(other_numbers_of_registers_do_not_compare)
{
	static struct fake fake;
	struct verb v;

	make(0, 10, 10, "clock");
	fake_begin(&fake)->registers = 1;
	fake_thread(&fake, "a");
	fake_end(&fake);
	v = VERB(cmd_diff, "diff", dirs[0], fake.dir);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "recorded with 4 debug registers,");
	ck_assert_int_eq(verb_lines(v.err), 1);
	verb_free(&v);
}
END_TEST

/* 100 detections of which @judged were judged, half of them avoidable. */
static const char *make_judged(int i, uint64_t judged)
{
	static struct fake fake;
	struct cdp_pair *p;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	p = fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	p->avoidable = p->unavoidable = judged / 2;
	fake_end(&fake);
	snprintf(dirs[i], sizeof(dirs[i]), "%s/run%d", sandbox, i);
	ck_assert_int_eq(rename(fake.dir, dirs[i]), 0);
	return dirs[i];
}

START_TEST(what_was_not_judged_is_not_counted_as_unavoidable)
{
	struct verb v =
		VERB(cmd_diff, "diff", make_judged(0, 20), make_judged(1, 100));

	ASSERT_SAYS(v.out, "that padding avoids 26.3 26.3 1.00");
	verb_free(&v);
}
END_TEST

/* Twenty pairs of instructions; the first has @first detections. */
static const char *make_places(int i, uint64_t first)
{
	static struct fake fake;

	fake_begin(&fake);
	for (uint32_t k = 0; k < 40; k++)
		fake_thread(&fake, "a");
	for (uint32_t k = 0; k < 20; k++)
		fake_pair(&fake, 2 * k, 2 * k + 1, LINE + 64 * k,
			  LINE + 64 * k + 8, k ? 2 : first);
	fake_end(&fake);
	snprintf(dirs[i], sizeof(dirs[i]), "%s/run%d", sandbox, i);
	ck_assert_int_eq(rename(fake.dir, dirs[i]), 0);
	return dirs[i];
}

/*
 * 12 and 3 differ at 95 % (3 of 15: 7 to 45 %), but not among forty rows, of
 * which two would seem to by chance.
 */
START_TEST(the_rows_of_a_table_miss_together_no_more_than_one)
{
	json_t *j = json_of(make_places(0, 12), make_places(1, 3)), *rows;
	json_t *few = json_of(make(2, 12, 0, "clock"), make(3, 3, 0, "clock"));
	size_t i;
	json_t *row;

	rows = json_object_get(j, "functions");
	ck_assert_uint_eq(json_array_size(rows), 40);
	json_array_foreach(rows, i, row)
		ck_assert_str_eq(text_at(row, "verdict"), "noise");
	ck_assert_str_eq(text_at(few, "rates.all.verdict"), "better");
	json_decref(j);
	json_decref(few);
}
END_TEST

/* Of an estimator: @samples of 10,000 brought one transfer each. */
static const char *make_estimate(int i, double samples)
{
	enum {
		PERIOD = 1000
	};
	static struct fake fake;
	struct cdp_header *h = fake_begin(&fake);
	double sum = samples * PERIOD, square = sum * PERIOD;
	double cell[] = {
		sum, square, sum / 2, square / 2, sum / 2, square / 2
	};
	double sampling[] = { 10000, 1 / 12.0 };

	strcpy(h->source, "emu");
	strcpy(h->algorithm, "epoch");
	strcpy(h->period_unit, "accesses");
	h->period = PERIOD;
	for (int k = 0; k < 2; k++) {
		struct cdp_thread *t = fake_thread(&fake, "a");

		t->counted_loads = 3000000;
		t->counted_stores = 2000000;
	}
	fake_transfer(&fake, CDP_ESTIMATE_SAMPLING, 0, 0, sampling, 2);
	fake_transfer(&fake, CDP_ESTIMATE_CELL, UINT32_MAX, UINT32_MAX, cell,
		      6);
	fake_transfer(&fake, CDP_ESTIMATE_CELL, 0, 1, cell, 6);
	fake_end(&fake);
	snprintf(dirs[i], sizeof(dirs[i]), "%s/run%d", sandbox, i);
	ck_assert_int_eq(rename(fake.dir, dirs[i]), 0);
	return dirs[i];
}

START_TEST(transfers_compare_with_the_error_of_their_estimate)
{
	struct verb v = VERB(cmd_diff, "diff", make_estimate(0, 200),
			     make_estimate(1, 100));

	ck_assert_msg(v.status == 0, "%s", v.err);
	ASSERT_SAYS(v.out, "Better: after, an access moves a cache line 0.5");
	ASSERT_SAYS(v.out, "Transfers in 1,000 accesses");
	verb_free(&v);
	v = VERB(cmd_diff, "diff", dirs[0], make_estimate(2, 190));
	ASSERT_SAYS(v.out, "No change beyond noise: after, an access");
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("diff");
	TCase *t = tcase_create("diff");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, sharing_that_is_gone_is_better);
	tcase_add_test(t, a_side_without_sharing_bounds_the_other);
	tcase_add_test(t, a_few_more_detections_are_noise);
	tcase_add_test(t, rules_fail_only_beyond_noise);
	tcase_add_test(t, several_runs_bring_their_scatter);
	tcase_add_test(t, what_does_not_compare_is_refused_with_one_line);
	tcase_add_test(t, other_numbers_of_registers_do_not_compare);
	tcase_add_test(t, what_was_not_judged_is_not_counted_as_unavoidable);
	tcase_add_test(t, the_rows_of_a_table_miss_together_no_more_than_one);
	tcase_add_test(t, transfers_compare_with_the_error_of_their_estimate);
	suite_add_tcase(s, t);
	return run_suite(s);
}
