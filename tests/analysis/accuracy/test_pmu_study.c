/* SPDX-License-Identifier: MIT */
/*
 * test_pmu_study - samples by instruction, and how many there should be
 *
 * Also how far a count may be off by chance.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/accuracy/pmu_study_internal.h"
#include "tests/sandbox.h"
#include "src/base/rng.h"
#include "src/store/sample_log.h"
#include "tests/run_suite.h"

static struct pmu_study_run run;

static const char *path(const char *name)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s/%s", sandbox, name);
	return text;
}

static void write_file(const char *name, const void *data, size_t bytes)
{
	FILE *f = fopen(path(name), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data, 1, bytes, f), bytes);
	fclose(f);
}

static void read_answer(const char *text)
{
	memset(&run, 0, sizeof(run));
	write_file("answer", text, strlen(text));
	pmu_study_read_answer(&run, path("answer"));
}

static void read_log(const struct sample_log_record *record, size_t n)
{
	write_file("log", record, n * sizeof(*record));
	pmu_study_read_log(&run, path("log"));
}

#define SITE(name, event, low, high, words, count)                             \
	"{\"name\": \"" name "\", \"event\": \"" event "\", \"low\": \"" low   \
	"\", \"high\": \"" high "\", \"words\": [" words                       \
	"], \"bytes\": 4, \"count\": " count "}"

#define ANSWER(a, b)                                                           \
	"{\"cpu_seconds\": 1.5, \"peak_kb\": 12, \"sites\": [" a ", " b "]}"

START_TEST(a_sample_belongs_to_the_instruction_that_holds_it)
{
	static const struct sample_log_record log[] = {
		{ 8, 0x1000, 4, ACCESS_LOAD, SAMPLE_UNIFORM, 0 },
		{ 8, 0x1001, 4, ACCESS_LOAD, SAMPLE_STALLED, 0 },
		{ 8, 0x1002, 4, ACCESS_LOAD, SAMPLE_UNIFORM, 1 },
		{ 8, 0x1005, 4, ACCESS_LOAD, SAMPLE_UNIFORM, 1 },
		{ 8, 0x1006, 4, ACCESS_LOAD, SAMPLE_UNIFORM, 1 }, /* after */
		{ 8, 0xfff, 4, ACCESS_LOAD, SAMPLE_STALLED, 1 },
		{ 8, UINT64_MAX - 9, 4, ACCESS_LOAD, SAMPLE_UNIFORM, 1 },
		{ 0 },
		{ 8, 0x1000, 4, ACCESS_LOAD, SAMPLE_UNIFORM, 0 }, /* ignored */
	};

	read_answer(ANSWER(SITE("a", "load", "0x1000", "0x1002", "", "70"),
			   SITE("b", "none", "0x1002", "0x1006", "", "0")));
	ck_assert_ptr_null(run.failed);
	ck_assert_uint_eq(run.sites, 2);
	ck_assert_uint_eq(run.peak_kb, 12);
	ck_assert(run.cpu_seconds == 1.5);
	read_log(log, sizeof(log) / sizeof(*log));
	ck_assert_ptr_null(run.failed);
	ck_assert_uint_eq(run.site[0].samples[SAMPLE_UNIFORM], 1);
	ck_assert_uint_eq(run.site[0].samples[SAMPLE_STALLED], 1);
	ck_assert_uint_eq(run.site[1].samples[SAMPLE_UNIFORM], 2);
	ck_assert_uint_eq(run.elsewhere[SAMPLE_UNIFORM], 2);
	ck_assert_uint_eq(run.elsewhere[SAMPLE_STALLED], 1);
	ck_assert_uint_eq(run.kernel, 1);
	ck_assert(pmu_study_samples(&run, "load") == 2);
	ck_assert(pmu_study_samples(&run, NULL) == 4);
	ck_assert(pmu_study_accesses(&run, "load ret") == 70);
	ck_assert(pmu_study_accesses(&run, "ret locked") == 0);
}
END_TEST

/* With hooks, a sample's address is that of the hook, outside the loop. */
START_TEST(a_sample_without_a_place_belongs_to_the_word_that_it_touches)
{
	static const struct sample_log_record log[] = {
		{ 0x5000, 0x77, 4, ACCESS_LOAD, SAMPLE_UNIFORM, 0 },
		{ 0x6003, 0x77, 1, ACCESS_LOAD, SAMPLE_UNIFORM, 0 },
		{ 0x6004, 0x77, 1, ACCESS_LOAD, SAMPLE_UNIFORM, 0 },
		{ 0x5010, 0x77, 4, ACCESS_LOAD, SAMPLE_UNIFORM, 0 },
	};

	read_answer(ANSWER(
		SITE("a", "load", "0x0", "0x0", "\"0x5000\", \"0x6000\"", "2"),
		SITE("b", "load", "0x0", "0x0", "\"0x5010\"", "2")));
	ck_assert_ptr_null(run.failed);
	read_log(log, sizeof(log) / sizeof(*log));
	ck_assert_uint_eq(run.site[0].samples[SAMPLE_UNIFORM], 2);
	ck_assert_uint_eq(run.site[1].samples[SAMPLE_UNIFORM], 1);
	ck_assert_uint_eq(run.elsewhere[SAMPLE_UNIFORM], 1);
}
END_TEST

/*
 * Sampled by PEBS's events of loads and of stores, or by one that counts both.
 */
START_TEST(a_locked_addition_counts_once_for_each_store)
{
	static const struct sample_log_record log[] = {
		{ 8, 0x1000, 4, ACCESS_LOAD, SAMPLE_UNIFORM, 0 },
		{ 8, 0x1000, 4, ACCESS_STORE, SAMPLE_UNIFORM, 0 },
		{ 8, 0x1000, 4, ACCESS_LOAD | ACCESS_STORE, SAMPLE_UNIFORM, 0 },
		{ 8, 0x1004, 4, ACCESS_LOAD, SAMPLE_UNIFORM, 0 },
	};

	read_answer(ANSWER(SITE("a", "locked", "0x1000", "0x1004", "", "1"),
			   SITE("b", "load", "0x1004", "0x1008", "", "1")));
	read_log(log, sizeof(log) / sizeof(*log));
	ck_assert(pmu_study_samples(&run, "locked") == 2);
	ck_assert(pmu_study_samples(&run, "load") == 1);
	ck_assert(!run.elsewhere[SAMPLE_UNIFORM]);
}
END_TEST

START_TEST(an_answer_that_makes_no_sense_fails_the_run)
{
	static const char *const texts[] = {
		"",
		"no JSON",
		"{}",
		"[]",
		"{\"sites\": []}",
		"{\"sites\": 7}",
		"{\"sites\": [{}, {}, {}, {}, {}, {}, {}, {}, {}]}",
	};

	read_answer(texts[_i]);
	ck_assert_ptr_nonnull(run.failed);
}
END_TEST

START_TEST(fields_of_a_wrong_type_count_as_nothing)
{
	read_answer("{\"sites\": [{\"name\": 7, \"low\": [], \"words\": [7, "
		    "null, {}], \"count\": \"x\"}, 3], \"peak_kb\": {}}");
	ck_assert_ptr_null(run.failed);
	ck_assert_uint_eq(run.sites, 2);
	ck_assert(pmu_study_accesses(&run, NULL) == 0);
}
END_TEST

/* Samples that found no room would look like samples that were never taken. */
START_TEST(a_log_that_is_full_or_missing_fails_the_run)
{
	struct sample_log_record *log =
		calloc(SAMPLE_LOG_RECORDS, sizeof(*log));

	ck_assert_ptr_nonnull(log);
	for (size_t i = 0; i < SAMPLE_LOG_RECORDS; i++)
		log[i].len = 4;
	memset(&run, 0, sizeof(run));
	read_log(log, SAMPLE_LOG_RECORDS - 1);
	ck_assert_ptr_null(run.failed);
	read_log(log, SAMPLE_LOG_RECORDS);
	ck_assert_ptr_nonnull(run.failed);
	free(run.failed);
	memset(&run, 0, sizeof(run));
	pmu_study_read_log(&run, path("nothing"));
	ck_assert_ptr_nonnull(run.failed);
	free(log);
}
END_TEST

/*
 * Count samples in @length accesses. Intervals are uniform within 1/16 of the
 * period to either side, and the first began anywhere before.
 */
static uint64_t count_samples(struct rng *rng, uint64_t period, uint64_t length)
{
	uint64_t width = period / 8, at = 0, n = 0;
	uint64_t start = 40 * period + rng_below(rng, period);

	while (at < start)
		at += period - width / 2 + rng_below(rng, width + 1);
	for (; at < start + length; n++)
		at += period - width / 2 + rng_below(rng, width + 1);
	return n;
}

/*
 * Compare with counts that are drawn in stretches of any length around the
 * truth: the bound is three of their standard deviations.
 */
START_TEST(bound_is_three_standard_errors_of_counts_that_are_drawn)
{
	static const uint64_t truths[] = { 5, 20, 60 };
	enum {
		DRAWS = 20000,
		PERIOD = 1600, /* divisible by 8, so that its mean is exact */
	};
	double truth = (double)truths[_i], sum = 0, squares = 0, deviation;
	struct rng rng;

	rng_seed(&rng, 5, _i);
	for (int i = 0; i < DRAWS; i++) {
		uint64_t length = PERIOD * truths[_i] - PERIOD / 2 +
				  rng_below(&rng, PERIOD);
		double x = (double)count_samples(&rng, PERIOD, length) -
			   (double)length / PERIOD;

		sum += x;
		squares += x * x;
	}
	/* The mean is known exactly; this one to 0.003. */
	ck_assert_double_lt(fabs(sum / DRAWS), 0.015);
	deviation = sqrt(squares / DRAWS);
	/* 20,000 draws give the deviation to 0.5 %. */
	ck_assert_double_lt(
		fabs(pmu_study_bound(PMU_STUDY_EMU, truth, 1, false) * truth /
			     (4 * deviation) -
		     1),
		0.03);
}
END_TEST

START_TEST(bound_of_a_part_of_the_events_is_that_of_a_chance)
{
	/* 4 sqrt(100 + 1/6) of 100; half of it for four runs, except the 1/6 */
	ck_assert_double_eq_tol(pmu_study_bound(PMU_STUDY_EMU, 100, 1, true),
				0.40033, 1e-5);
	ck_assert_double_eq_tol(pmu_study_bound(PMU_STUDY_IBS, 100, 4, false),
				0.20067, 1e-5);
	/* Never below 1 %. */
	ck_assert_double_eq_tol(pmu_study_bound(PMU_STUDY_EMU, 1e6, 5, false),
				0.01, 1e-12);
}
END_TEST

static double peak_of(const struct pmu_study_run *r, const void *scale)
{
	return (double)r->peak_kb * *(const double *)scale;
}

START_TEST(mean_leaves_out_runs_that_failed)
{
	static struct pmu_study_point p = { .runs = 4 };
	static const uint64_t kb[] = { 2, 4, 1000, 9 };
	static const double scale = 10;
	struct pmu_study_mean m;

	for (int i = 0; i < 4; i++)
		p.run[i].peak_kb = kb[i];
	p.run[2].failed = (char *)"it did";
	m = pmu_study_mean(&p, peak_of, &scale);
	ck_assert_uint_eq(m.n, 3);
	ck_assert_double_eq_tol(m.mean, 50, 1e-9);
	/* 20, 40, 90: variance 1300 */
	ck_assert_double_eq_tol(m.error, sqrt(1300.0 / 3), 1e-9);
	p.runs = 1;
	m = pmu_study_mean(&p, peak_of, &scale);
	ck_assert(m.mean == 20 && isnan(m.error));
	p.run[0].failed = p.run[2].failed;
	m = pmu_study_mean(&p, peak_of, &scale);
	ck_assert(m.n == 0 && isnan(m.mean));
}
END_TEST

START_TEST(plan_brings_the_samples_that_are_asked_for)
{
	struct pmu_study_run r = { .column = PMU_STUDY_EMU };

	ck_assert(pmu_study_plan(&r, 1000, 400, 4, 1e9));
	ck_assert_uint_eq(r.period, 1000);
	ck_assert_uint_eq(r.iterations, 100000);
	ck_assert_double_eq_tol((double)r.iterations * 4 / r.interval, 400,
				1e-9);
	/* 93 million a second, one in a million: 93 Hz, 200 in 2.15 s */
	r.column = PMU_STUDY_CLOCK;
	ck_assert(pmu_study_plan(&r, 1e6, 200, 1, 93.4e6));
	ck_assert_uint_eq(r.freq, 93);
	ck_assert_double_eq_tol(r.interval, 93.4e6 / 93, 1e-3);
	ck_assert_uint_eq(r.iterations, 200 * 1000 * 1000);
}
END_TEST

START_TEST(plan_refuses_what_a_source_cannot_do)
{
	struct pmu_study_run r = { .column = PMU_STUDY_CLOCK };

	ck_assert(!pmu_study_plan(&r, 1000, 400, 1, 93e6)); /* 93 kHz */
	ck_assert(!pmu_study_plan(&r, 1e9, 1, 1, 93e6));    /* below 1 Hz */
	r.column = PMU_STUDY_INSTR;
	ck_assert(!pmu_study_plan(&r, 50, 400, 1, 93e6));
	ck_assert(pmu_study_plan(&r, 100, 400, 1, 93e6));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("precise");
	TCase *t = tcase_create("precise");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_sample_belongs_to_the_instruction_that_holds_it);
	tcase_add_test(
		t,
		a_sample_without_a_place_belongs_to_the_word_that_it_touches);
	tcase_add_test(t, a_locked_addition_counts_once_for_each_store);
	tcase_add_loop_test(t, an_answer_that_makes_no_sense_fails_the_run, 0,
			    7);
	tcase_add_test(t, fields_of_a_wrong_type_count_as_nothing);
	tcase_add_test(t, a_log_that_is_full_or_missing_fails_the_run);
	tcase_add_loop_test(
		t, bound_is_three_standard_errors_of_counts_that_are_drawn, 0,
		3);
	tcase_add_test(t, bound_of_a_part_of_the_events_is_that_of_a_chance);
	tcase_add_test(t, mean_leaves_out_runs_that_failed);
	tcase_add_test(t, plan_brings_the_samples_that_are_asked_for);
	tcase_add_test(t, plan_refuses_what_a_source_cannot_do);
	suite_add_tcase(s, t);
	return run_suite(s);
}
