/* SPDX-License-Identifier: MIT */
/*
 * test_report_estimate - reports of runs with estimated transfers
 */
#include <jansson.h>
#include <math.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "src/engine/transfer_tally.h"
#include "tests/run_suite.h"

enum {
	NO_CELL = UINT32_MAX,
	PERIOD = 1000
};

#define LINE UINT64_C(0x7f0000001000)

static struct fake fake;

/* The cell got @n samples of one transfer each, @of_false of them false. */
static void put_cell(uint32_t a, uint32_t b, double n, double of_false)
{
	double square = (double)PERIOD * PERIOD;
	double share[] = { n * PERIOD,
			   n * square,
			   (n - of_false) * PERIOD,
			   (n - of_false) * square,
			   of_false * PERIOD,
			   of_false * square };
	double more[] = { n * PERIOD / 4, n, n };

	fake_transfer(&fake, CDP_ESTIMATE_CELL, a, b, share, 6);
	fake_transfer(&fake, CDP_ESTIMATE_MORE, a, b, more, 3);
}

static void put_sampling(double samples)
{
	double value[] = { samples, 1 / 12.0 };

	fake_transfer(&fake, CDP_ESTIMATE_SAMPLING, 0, 0, value, 2);
}

static void begin(const char *algorithm)
{
	struct cdp_header *h = fake_begin(&fake);

	strcpy(h->algorithm, algorithm);
	strcpy(h->source, "emu");
	strcpy(h->period_unit, "accesses");
	h->period = PERIOD;
	for (int i = 0; i < 3; i++)
		fake_thread(&fake, "worker");
}

static char *report(const char *option, const char *value)
{
	struct verb v = option && value ? VERB(cmd_report, "report", option,
					       value, fake.dir)
			: option ? VERB(cmd_report, "report", option, fake.dir)
				 : VERB(cmd_report, "report", fake.dir);

	ck_assert_msg(v.status == 0, "status %d: %s", v.status, v.err);
	free(v.err);
	return v.out;
}

/* 400 and 100 of 10,000 samples; 100 of them are false. */
static void two_cells(const char *algorithm, const char *source)
{
	begin(algorithm);
	strcpy(fake.store.header->source, source);
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	fake_pair(&fake, 1, 2, LINE + 64, LINE + 64, 400);
	put_sampling(10000);
	put_cell(0, 1, 100, 100);
	put_cell(1, 2, 400, 0);
	put_cell(NO_CELL, NO_CELL, 500, 100);
	fake_end(&fake);
}

static const char *const estimators[] = { "epoch", "chain", "epoch" };
static const char *const sources[] = { "emu", "emu", "instr" };
static const double systematic[] = { 0, 0.02, 0.04 };

START_TEST(the_answer_is_transfers_and_no_map)
{
	char *text, words[120];
	struct transfer_sampling s = { 10000, 1 / 12.0, systematic[_i], 0 };
	struct transfer_moment all = { 500 * PERIOD, 500.0 * PERIOD * PERIOD };
	struct interval v = transfer_interval(&all, &s);

	two_cells(estimators[_i], sources[_i]);
	text = report(NULL, NULL);
	ASSERT_SAYS(text, "Cache lines were moved between threads 500,000 "
			  "times (estimated;");
	snprintf(words, sizeof(words), "%.0f,%03.0f to %.0f,%03.0f)",
		 floor(v.low / 1000), fmod(round(v.low), 1000),
		 floor(v.high / 1000), fmod(round(v.high), 1000));
	ASSERT_SAYS(text, words);
	/* Wilson's interval for 100 of 500 is 16.7 to 23.7 %. */
	ASSERT_SAYS(text, "20 % of that by false sharing (17 to 24 %)");
	ck_assert(!verb_says(text, "map"));
	ck_assert(!verb_says(text, "weak"));
	/* Nothing was counted, which is not the same as a count of 0. */
	ck_assert(!verb_says(text, "counted one by one"));
	free(text);
	text = report("--json", NULL);
	ck_assert(!verb_says(text, "\"exact\":"));
	free(text);
}
END_TEST

static void put_avoidable_by(uint64_t turns, uint64_t line, double transfers,
			     double avoids)
{
	double value[] = { 0, transfers, avoids, 0, 0, 0 };

	memcpy(&value[0], &line, sizeof(line));
	memcpy(&value[4], &turns, sizeof(turns));
	fake_transfer(&fake, CDP_AVOIDABLE_LINE, CDP_AVOIDABLE_SAMPLED, 0,
		      value, 6);
}

static void put_avoidable(uint64_t line, double transfers, double avoids)
{
	put_avoidable_by(128, line, transfers, avoids);
}

START_TEST(the_answer_leads_with_what_padding_avoids)
{
	char *text;
	json_t *j;

	begin("epoch");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	put_sampling(5000);
	put_avoidable(LINE, 1e6, 1e6); /* of an earlier writing */
	put_sampling(10000);
	put_cell(0, 1, 500, 100);
	put_cell(NO_CELL, NO_CELL, 500, 100);
	put_avoidable(LINE, 300 * PERIOD, 50 * PERIOD);
	put_avoidable(LINE + 64, 200 * PERIOD, 0);
	fake_end(&fake);
	text = report(NULL, NULL);
	/* Wilson's interval for 50 of 500 is 7.7 to 12.9 %. */
	ASSERT_SAYS(text, "Padding would avoid 10 % of that (8 to 13 %)");
	ASSERT_SAYS(text, "definition 20 % is false sharing (17 to 24 %)");
	free(text);
	j = report_of(fake.dir);
	ck_assert_double_eq_tol(
		json_number_value(
			at(j, "communication.avoidable_share.estimate")),
		0.1, 1e-9);
	json_decref(j);
}
END_TEST

/* Of a mutex and its counter most sharing is false, but padding does not help.
 */
START_TEST(padding_is_advised_only_where_it_helps)
{
	char *text;

	begin("epoch");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	put_sampling(10000);
	put_cell(0, 1, 500, 400);
	put_cell(NO_CELL, NO_CELL, 500, 400);
	put_avoidable(LINE, 500 * PERIOD, (_i ? 30 : 20) * PERIOD);
	fake_end(&fake);
	text = report(NULL, NULL);
	ck_assert_int_eq(verb_says(text, "Padding avoids little of it"), !_i);
	ck_assert_int_eq(verb_says(text, "alignas(64)"), _i);
	free(text);
}
END_TEST

static void same_interval(json_t *found, double low, double high)
{
	double rounding = 1e-6 * (1 + high);

	ck_assert_double_eq_tol(json_number_value(at(found, "low")), low,
				rounding);
	ck_assert_double_eq_tol(json_number_value(at(found, "high")), high,
				rounding);
}

/* Of 500 transfers 150 are false sharing on a line without a log. */
START_TEST(lines_without_a_log_may_be_avoidable_or_not)
{
	json_t *j, *share;
	char *text;

	begin("epoch");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	put_sampling(10000);
	put_cell(0, 1, 500, 200);
	put_cell(NO_CELL, NO_CELL, 500, 200);
	put_avoidable(LINE, 300 * PERIOD, 50 * PERIOD);
	put_avoidable_by(0, LINE + 64, 200 * PERIOD, 150 * PERIOD);
	fake_end(&fake);
	j = report_of(fake.dir);
	share = at(j, "communication.avoidable_share");
	ck_assert_double_eq_tol(json_number_value(at(share, "estimate")), 0.25,
				1e-9);
	same_interval(share, interval_share(50, 500).low,
		      interval_share(200, 500).high);
	ck_assert_str_eq(text_at(j, "communication.warnings.0.name"),
			 "avoidable");
	json_decref(j);
	text = report(NULL, NULL);
	ASSERT_SAYS(text, "30 % of the transfers are false sharing on lines");
	free(text);
}
END_TEST

/* Few slots lost 300 samples, and chains 100 transfers. */
START_TEST(what_was_missed_widens_the_intervals)
{
	double left[] = { 100 * PERIOD, 100.0 * PERIOD * PERIOD, _i ? 4 : 251,
			  300 };
	double missed = 100 + 1.959963984540054 * 10 + (_i ? 300 : 0);
	struct transfer_sampling s = { 10000, 1 / 12.0, 0.02, 0 };
	struct transfer_moment all = { 500 * PERIOD, 500.0 * PERIOD * PERIOD };
	struct interval v = transfer_interval(&all, &s), f;
	double seen = 500 / (500 + missed);
	json_t *j;

	begin("chain");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	put_sampling(10000);
	put_cell(1, 2, 500, 100);
	put_cell(NO_CELL, NO_CELL, 500, 100);
	fake_transfer(&fake, CDP_ESTIMATE_LEFT, 0, 0, left, 4);
	fake_end(&fake);
	j = report_of(fake.dir);
	same_interval(at(j, "communication.total"), v.low,
		      v.high + missed * PERIOD);
	same_interval(at(j, "communication.cells.0"), v.low,
		      v.high + missed * PERIOD);
	f = interval_share(100, 500);
	same_interval(at(j, "communication.false_share"), f.low * seen,
		      f.high * seen + 1 - seen);
	ck_assert_str_eq(text_at(j, "communication.warnings.0.name"), "missed");
	json_decref(j);
}
END_TEST

/* Five samples may stand for 500 transfers of 5,000, or for 170. */
START_TEST(what_a_few_samples_may_have_missed_is_no_warning)
{
	double n = _i ? 50 : 5, weight = 500 / n * PERIOD;
	double left[] = { n * weight, n * weight * weight, 251, 300 };
	struct transfer_sampling s = { 10000, 1 / 12.0, 0.02, 0 };
	struct transfer_moment all = { 3000 * PERIOD,
				       3000.0 * PERIOD * PERIOD };
	struct interval v = transfer_interval(&all, &s);
	json_t *j;

	begin("chain");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	put_sampling(10000);
	put_cell(NO_CELL, NO_CELL, 3000, 100);
	fake_transfer(&fake, CDP_ESTIMATE_LEFT, 0, 0, left, 4);
	fake_end(&fake);
	j = report_of(fake.dir);
	same_interval(at(j, "communication.total"), v.low,
		      v.high + left[0] + 1.959963984540054 * sqrt(left[1]));
	ck_assert_uint_eq(json_array_size(at(j, "communication.warnings")), _i);
	json_decref(j);
}
END_TEST

/* Traps stop threads, and so do hooks that find the callers. */
START_TEST(what_stops_change_is_said)
{
	static const struct {
		const char *source;
		uint32_t registers;
		int paths;
		const char *says;
	} cases[] = {
		{ "instr", 4, 0, "traps" }, { "pebs", 1, 0, "traps" },
		{ "instr", 0, 0, NULL },    { "emu", 4, 0, NULL },
		{ "emu", 0, 1, NULL },      { "instr", 0, 1, "callers" },
	};
	const char *says = cases[_i].says;
	bool traps = says && strcmp(says, "traps") == 0;
	struct store_writer paths = { .section = CDP_PATHS };
	char *text;
	json_t *j;

	begin("chain");
	strcpy(fake.store.header->source, cases[_i].source);
	fake.store.header->registers = cases[_i].registers;
	if (cases[_i].paths) {
		struct cdp_path *p = store_record(&fake.store, &paths);

		*p = (struct cdp_path){ .node = 1, .ip = 0x1100 };
		store_commit(&paths);
	}
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	put_sampling(10000);
	put_cell(0, 1, 100, 100);
	put_cell(NO_CELL, NO_CELL, 100, 100);
	fake_end(&fake);
	text = report(NULL, NULL);
	ck_assert_int_eq(verb_says(text, "several times too high"), traps);
	ck_assert_int_eq(verb_says(text, "not for what traps change"), traps);
	free(text);
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, "communication.warnings")),
			  says != NULL);
	if (says)
		ck_assert_str_eq(text_at(j, "communication.warnings.0.name"),
				 says);
	json_decref(j);
}
END_TEST

START_TEST(pairs_and_matrix_are_transfers)
{
	char *text;

	two_cells("epoch", "emu");
	text = report(NULL, NULL);
	ASSERT_SAYS(text, "Communication matrix (transfers by thread id)");
	ASSERT_SAYS(text, "1 100k . 400k");
	ASSERT_SAYS(text, "1 2 400,000");
	ASSERT_SAYS(text, "0 1 100,000");
	ck_assert(!verb_says(text, "Pairs of threads"));
	free(text);
}
END_TEST

/*
 * 29 samples are few, and so are 60 of which one stands for 30 of the others:
 * the effective number is (59 + 30)^2 / (59 + 900) = 8.3. 30 equal ones are
 * not.
 */
START_TEST(few_samples_make_a_weak_answer)
{
	static const double samples[] = { 29, 30, 60 },
			    heaviest[] = { 1, 1, 30 };
	double n = samples[_i], heavy = heaviest[_i];
	double sum = (n - 1 + heavy) * PERIOD;
	double square = (n - 1 + heavy * heavy) * PERIOD * PERIOD;
	double share[] = { sum, square, 0, 0, sum, square };
	double more[] = { sum / 4, n, n };
	bool weak = _i != 1;
	char *text;

	begin("epoch");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	put_sampling(10000);
	fake_transfer(&fake, CDP_ESTIMATE_CELL, 0, 1, share, 6);
	fake_transfer(&fake, CDP_ESTIMATE_MORE, 0, 1, more, 3);
	fake_transfer(&fake, CDP_ESTIMATE_CELL, NO_CELL, NO_CELL, share, 6);
	fake_transfer(&fake, CDP_ESTIMATE_MORE, NO_CELL, NO_CELL, more, 3);
	fake_end(&fake);
	text = report(NULL, NULL);
	ck_assert_int_eq(verb_says(text, "few samples, a weak answer"), weak);
	ck_assert_int_eq(verb_says(text, "? fewer than 30 samples"), n < 30);
	free(text);
	text = report("--json", NULL);
	ck_assert_int_eq(verb_says(text, "\"name\": \"few\""), weak);
	free(text);
}
END_TEST

START_TEST(one_thread_is_what_it_took_part_in)
{
	char *text;

	two_cells("epoch", "emu");
	text = report("--thread", "0");
	ASSERT_SAYS(text, "It took part in 100,000 transfers");
	ASSERT_SAYS(text, "100 % of them false sharing");
	ck_assert(!verb_says(text, "1 2 400,000"));
	free(text);
}
END_TEST

static double estimate(json_t *communication, const char *name)
{
	return json_number_value(at(at(communication, name), "estimate"));
}

/* The interpreter of a script was emulated too, and moved nothing. */
START_TEST(estimates_of_several_processes_are_added_up)
{
	json_t *j, *c;
	char *text;

	begin("epoch");
	put_sampling(500);
	strcpy(fake_next(&fake, 4243)->algorithm, "epoch");
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	put_sampling(1000);
	put_cell(0, 1, 60, 30);
	put_cell(NO_CELL, NO_CELL, 60, 30);
	fake_end(&fake);
	text = report("--json", NULL);
	j = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(j);
	c = at(j, "communication");
	ck_assert_str_eq(json_string_value(at(c, "quantity")), "transfers");
	ck_assert_double_eq(estimate(c, "total"), 60 * PERIOD);
	ck_assert_double_eq(estimate(c, "false_sharing"), 30 * PERIOD);
	ck_assert_double_eq_tol(estimate(c, "false_share"), 0.5, 1e-9);
	ck_assert_double_eq(json_number_value(at(c, "samples")), 1500);
	ck_assert_uint_eq(json_array_size(at(c, "cells")), 1);
	json_decref(j);
	free(text);
}
END_TEST

START_TEST(the_latest_record_of_a_cell_counts)
{
	json_t *j, *c;
	char *text;

	begin("epoch");
	put_sampling(500);
	put_cell(0, 1, 10, 0);
	put_cell(NO_CELL, NO_CELL, 10, 0);
	put_sampling(1000);
	put_cell(0, 1, 40, 10);
	put_cell(NO_CELL, NO_CELL, 40, 10);
	fake_end(&fake);
	text = report("--json", NULL);
	j = json_loads(text, 0, NULL);
	c = at(j, "communication");
	ck_assert_double_eq(estimate(c, "total"), 40 * PERIOD);
	ck_assert_uint_eq(json_array_size(at(c, "cells")), 1);
	ck_assert_double_eq(
		json_number_value(at(json_array_get(at(c, "cells"), 0), "all")),
		40 * PERIOD);
	json_decref(j);
	free(text);
}
END_TEST

START_TEST(absurd_numbers_and_threads_are_survived)
{
	static const double bad[] = { NAN,    INFINITY, -INFINITY,
				      -1e300, 1e300,    -5 };
	char *text;

	begin("epoch");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 100);
	put_sampling(bad[_i]);
	for (uint32_t b = 1; b < 5; b++) {
		double value[] = { bad[_i], bad[(_i + 1) % 6], bad[_i],
				   bad[_i], bad[_i],           bad[_i] };

		fake_transfer(&fake, CDP_ESTIMATE_CELL, b - 1, b, value, 6);
		fake_transfer(&fake, CDP_ESTIMATE_MORE, b - 1, b, value, 3);
		fake_transfer(&fake, CDP_ESTIMATE_CELL, NO_CELL - 1, b, value,
			      6);
		fake_transfer(&fake, CDP_ESTIMATE_CELL, NO_CELL, NO_CELL, value,
			      6);
	}
	fake_end(&fake);
	free(report(NULL, NULL));
	free(report("--thread", "1"));
	text = report("--json", NULL);
	ck_assert(!verb_says(text, "nan"));
	ck_assert(!verb_says(text, "inf,"));
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_estimate");
	TCase *tc = tcase_create("report_estimate");

	tcase_add_checked_fixture(tc, sandbox_setup, sandbox_teardown);
	tcase_add_loop_test(tc, the_answer_is_transfers_and_no_map, 0, 3);
	tcase_add_test(tc, the_answer_leads_with_what_padding_avoids);
	tcase_add_loop_test(tc, padding_is_advised_only_where_it_helps, 0, 2);
	tcase_add_test(tc, lines_without_a_log_may_be_avoidable_or_not);
	tcase_add_loop_test(tc, what_was_missed_widens_the_intervals, 0, 2);
	tcase_add_loop_test(
		tc, what_a_few_samples_may_have_missed_is_no_warning, 0, 2);
	tcase_add_loop_test(tc, what_stops_change_is_said, 0, 6);
	tcase_add_test(tc, pairs_and_matrix_are_transfers);
	tcase_add_loop_test(tc, few_samples_make_a_weak_answer, 0, 3);
	tcase_add_test(tc, one_thread_is_what_it_took_part_in);
	tcase_add_test(tc, estimates_of_several_processes_are_added_up);
	tcase_add_test(tc, the_latest_record_of_a_cell_counts);
	tcase_add_loop_test(tc, absurd_numbers_and_threads_are_survived, 0, 6);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
