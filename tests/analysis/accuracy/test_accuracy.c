/* SPDX-License-Identifier: MIT */
/*
 * test_accuracy - from a recording to a row and its verdict
 *
 * The recordings are made by hand, so that the expected rows are known.
 */
#include <math.h>

#include "analysis/accuracy/accuracy.h"
#include "analysis/accuracy/coverage.h"
#include "analysis/accuracy/judge.h"
#include "analysis/accuracy/read.h"
#include "analysis/accuracy/suites.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

#define Z_95 1.959963984540054

static void exact_cell(struct fake *f, uint32_t from, uint32_t to, uint64_t all,
		       uint64_t of_false)
{
	fake_transfer(f, CDP_EXACT_CELL, from, to,
		      (uint64_t[]){ all, of_false }, 2);
}

/* @seen samples of weight 100 each, @of_false of them false. */
static void estimate(struct fake *f, uint32_t a, uint32_t b, double seen,
		     double of_false)
{
	double w = 100, t = seen - of_false;

	fake_transfer(f, CDP_ESTIMATE_CELL, a, b,
		      (double[]){ w * seen, w * w * seen, w * t, w * w * t,
				  w * of_false, w * w * of_false },
		      6);
	fake_transfer(f, CDP_ESTIMATE_MORE, a, b, (double[]){ 0, seen, seen },
		      3);
}

static struct accuracy_trial trial;
static struct accuracy all;

/* Begin a recording with 1000 accesses by each of three threads. */
static void begin(struct fake *f, const char *algorithm)
{
	struct cdp_header *h = fake_begin(f);

	strcpy(h->algorithm, algorithm);
	h->period = 100;
	for (int i = 0; i < 3; i++) {
		struct cdp_thread *t = fake_thread(f, "worker");

		t->counted_loads = 600;
		t->counted_stores = 400;
		t->traps = 7;
	}
	fake_transfer(f, CDP_ESTIMATE_SAMPLING, 0, 0, (double[6]){ 1e6 }, 6);
}

static void finish(struct fake *f)
{
	fake_end(f);
	trial = (struct accuracy_trial){
		.suite = "suite",
		.label = "case",
		.threads = 3,
		.algorithm = "chain",
		.period = 100,
	};
	accuracy_read(&trial, f->dir);
	all = (struct accuracy){ 0 };
}

static const struct accuracy_row *last_row(void)
{
	ck_assert_uint_gt(all.rows, 0);
	return &all.row[all.rows - 1];
}

START_TEST(both_directions_of_a_cell_are_one)
{
	struct fake f;

	begin(&f, "epoch");
	exact_cell(&f, 2, 1, 30, 3);
	exact_cell(&f, 1, 2, 12, 4);
	exact_cell(&f, 0, 1, 5, 0);
	estimate(&f, 1, 2, 50, 5);
	finish(&f);
	ck_assert_ptr_null(trial.failed);
	ck_assert_uint_eq(trial.outcome.exact, 47);
	ck_assert_uint_eq(trial.outcome.exact_false, 7);
	ck_assert_uint_eq(trial.outcome.accesses, 3000);
	ck_assert_uint_eq(trial.outcome.traps, 21);
	ck_assert_uint_eq(trial.outcome.cells, 2);
	for (int i = 0; i < 2; i++) {
		const struct accuracy_cell *c = &trial.outcome.cell[i];

		ck_assert_uint_lt(c->a, c->b);
		ck_assert_uint_eq(c->exact, c->a ? 42 : 5);
		ck_assert_double_eq(c->estimate, c->a ? 5000 : 0);
	}
}
END_TEST

START_TEST(a_later_record_takes_the_place_of_an_earlier_one)
{
	struct fake f;

	begin(&f, "epoch");
	exact_cell(&f, 1, 2, 1000, 0);
	exact_cell(&f, 1, 2, 20, 0);
	finish(&f);
	ck_assert_uint_eq(trial.outcome.exact, 20);
}
END_TEST

static const struct {
	uint64_t exact;
	double bound;
	bool good;
} totals[] = {
	{ 10000, 0.15, true }, { 8696, 0.15, true },   { 8695, 0.15, false },
	{ 11764, 0.15, true }, { 11765, 0.15, false }, { 10000, 0, true },
	{ 10001, 0, false },   { 0, 0.15, false },
};

START_TEST(a_total_passes_up_to_its_bound)
{
	const struct accuracy_row *r;
	struct fake f;

	begin(&f, "epoch");
	if (totals[_i].exact)
		exact_cell(&f, 1, 2, totals[_i].exact, 0);
	estimate(&f, UINT32_MAX, UINT32_MAX, 100, 0);
	finish(&f);
	accuracy_judge_total(&all, &trial, totals[_i].bound);
	r = last_row();
	ck_assert_double_eq(r->measured, 10000);
	ck_assert_double_eq(r->truth, (double)totals[_i].exact);
	ck_assert(r->verdict ==
		  (totals[_i].good ? ACCURACY_PASSED : ACCURACY_FAILED));
}
END_TEST

START_TEST(a_run_that_failed_passes_nothing)
{
	struct fake f;

	begin(&f, "epoch");
	exact_cell(&f, 1, 2, 100, 0);
	estimate(&f, UINT32_MAX, UINT32_MAX, 1, 0);
	finish(&f);
	trial.failed = "because";
	accuracy_judge_total(&all, &trial, 1e9);
	accuracy_judge_interval(&all, &trial);
	accuracy_judge_false(&all, &trial, 0, 1e9, 0);
	accuracy_judge_cells(&all, &trial, 1e9, 0);
	accuracy_judge_scaled(&all, &trial, 1, 1e9);
	accuracy_judge_value(&all, &trial, "value", 1, 1, true, 1e9);
	ck_assert_uint_eq(all.rows, 6);
	for (size_t i = 0; i < all.rows; i++)
		ck_assert(all.row[i].verdict == ACCURACY_FAILED);
}
END_TEST

START_TEST(a_recording_that_is_missing_fails)
{
	char *dir = NULL;

	trial = (struct accuracy_trial){ .suite = "suite", .label = "case" };
	ck_assert_int_gt(asprintf(&dir, "%s/none", sandbox), 0);
	accuracy_read(&trial, dir);
	ck_assert_ptr_nonnull(trial.failed);
	free(dir);
}
END_TEST

/* If no sample was seen, up to 3.69 are expected. */
static const struct {
	uint64_t exact;
	bool good;
} unseen[] = { { 0, true }, { 368, true }, { 369, false } };

START_TEST(of_what_was_not_seen_the_interval_ends_at_3_69_periods)
{
	struct fake f;

	begin(&f, "epoch");
	if (unseen[_i].exact)
		exact_cell(&f, 0, 1, unseen[_i].exact, 0);
	finish(&f);
	accuracy_judge_interval(&all, &trial);
	ck_assert(last_row()->verdict ==
		  (unseen[_i].good ? ACCURACY_PASSED : ACCURACY_FAILED));
}
END_TEST

/* Each sample is true or false, so the share is binomial. */
START_TEST(of_equal_samples_the_false_share_has_the_binomial_interval)
{
	const struct accuracy_row *r;
	double half = Z_95 * sqrt(0.3 * 0.7 / 200);
	struct fake f;

	begin(&f, "epoch");
	estimate(&f, UINT32_MAX, UINT32_MAX, 200, 60);
	finish(&f);
	accuracy_judge_false(&all, &trial, 0.29, 0.02, 100);
	r = last_row();
	ck_assert_double_eq_tol(r->measured, 0.3, 1e-12);
	ck_assert_double_eq_tol(r->low, 0.3 - half, 1e-9);
	ck_assert_double_eq_tol(r->high, 0.3 + half, 1e-9);
	ck_assert(r->verdict == ACCURACY_PASSED);
	accuracy_judge_false(&all, &trial, 0.27, 0.02, 100);
	ck_assert(last_row()->verdict == ACCURACY_FAILED);
	/* With fewer traps than the bound needs, the interval decides. */
	accuracy_judge_false(&all, &trial, 0.27, 0.02, 1000);
	ck_assert(last_row()->verdict == ACCURACY_PASSED);
	accuracy_judge_false(&all, &trial, 0.2, 0.02, 1000);
	ck_assert(last_row()->verdict == ACCURACY_FAILED);
}
END_TEST

START_TEST(cells_are_judged_by_their_share_of_the_highest)
{
	const struct accuracy_row *r;
	struct fake f;

	begin(&f, "epoch");
	exact_cell(&f, 0, 1, 10000, 0);
	exact_cell(&f, 1, 2, 5000, 0);
	exact_cell(&f, 0, 2, 100, 0);
	estimate(&f, 0, 1, 50, 0);
	estimate(&f, 1, 2, 27, 0);
	estimate(&f, UINT32_MAX, UINT32_MAX, 77, 0);
	finish(&f);
	accuracy_judge_cells(&all, &trial, 0.041, 77);
	r = last_row();
	ck_assert_double_eq_tol(r->measured, 0.54, 1e-12);
	ck_assert_double_eq_tol(r->truth, 0.5, 1e-12);
	ck_assert(r->verdict == ACCURACY_PASSED);
	accuracy_judge_cells(&all, &trial, 0.039, 77);
	ck_assert(last_row()->verdict == ACCURACY_FAILED);
	accuracy_judge_cells(&all, &trial, 0.039, 78);
	ck_assert(last_row()->verdict == ACCURACY_SHOWN);
}
END_TEST

START_TEST(the_median_leaves_out_other_figures)
{
	static const uint64_t exact[] = { 10000, 8000, 12500 };
	const struct accuracy_row *r;
	struct fake f;

	begin(&f, "epoch");
	estimate(&f, UINT32_MAX, UINT32_MAX, 100, 0);
	finish(&f);
	for (int i = 0; i < 3; i++) {
		trial.outcome.exact = exact[i];
		accuracy_judge_total(&all, &trial, 1);
		accuracy_judge_interval(&all, &trial);
	}
	accuracy_judge_median(&all, "suite", "median", 0, 0.19);
	r = last_row();
	ck_assert_double_eq_tol(r->measured, 0.2, 1e-12);
	ck_assert(r->verdict == ACCURACY_FAILED);
	accuracy_judge_median(&all, "suite", "median", 0, 0.21);
	ck_assert(last_row()->verdict == ACCURACY_PASSED);
	accuracy_judge_median(&all, "suite", "of none", all.rows, 1);
	ck_assert(last_row()->verdict == ACCURACY_FAILED);
}
END_TEST

/* Numbers of cells, and how many of their intervals contain the truth. */
static const struct {
	size_t cells, held;
	double width;
	size_t left_out;
	enum accuracy_verdict share, width_verdict;
} pools[] = {
	{ 600, 551, 0.1, 0, ACCURACY_FAILED, ACCURACY_PASSED },
	{ 600, 553, 0.1, 0, ACCURACY_PASSED, ACCURACY_PASSED },
	{ 600, 587, 0.1, 0, ACCURACY_PASSED, ACCURACY_PASSED },
	{ 600, 589, 0.1, 0, ACCURACY_FAILED, ACCURACY_PASSED },
	{ 600, 570, 0.16, 0, ACCURACY_PASSED, ACCURACY_FAILED },
	{ 600, 570, 0.1, 9, ACCURACY_PASSED, ACCURACY_PASSED },
	/* Too few cells for a verdict, after all runs and after some. */
	{ 499, 474, 0.1, 0, ACCURACY_FAILED, ACCURACY_PASSED },
	{ 499, 474, 0.1, 9, ACCURACY_SHOWN, ACCURACY_SHOWN },
};

static struct accuracy_cell *make_cells(size_t n, size_t held, double width)
{
	struct accuracy_cell *cell = calloc(n, sizeof(*cell));

	ck_assert_ptr_nonnull(cell);
	for (size_t i = 0; i < n; i++) {
		cell[i].seen = ACCURACY_FEW;
		cell[i].estimate = 1000;
		cell[i].low = cell[i].low_sampling = 1000 - 500 * width;
		cell[i].high = cell[i].high_sampling = 1000 + 500 * width;
		cell[i].exact = i < held ? 1000 : 2000;
	}
	return cell;
}

START_TEST(stated_intervals_must_hold_in_19_of_20_cells_and_be_narrow)
{
	struct accuracy_cell *cell =
		make_cells(pools[_i].cells, pools[_i].held, pools[_i].width);
	int judged = 0;

	trial = (struct accuracy_trial){
		.label = "ring buffer",
		.threads = 4,
		.algorithm = "chain",
		.outcome = { .cell = cell, .cells = pools[_i].cells },
	};
	all = (struct accuracy){ .trial = &trial,
				 .trials = 1,
				 .left_out = pools[_i].left_out };
	accuracy_judge_intervals(&all, 0);
	for (size_t i = 0; i < all.rows; i++) {
		const struct accuracy_row *r = &all.row[i];
		bool is_width = !strcmp(r->metric, "median width");

		ck_assert_double_eq_tol(r->measured,
					is_width ? pools[_i].width
						 : (double)pools[_i].held /
							   pools[_i].cells,
					1e-9);
		if (strncmp(r->name, "stated, all, ", 13) ||
		    strstr(r->name, "arming")) {
			ck_assert(r->verdict == ACCURACY_SHOWN);
			continue;
		}
		judged++;
		ck_assert(r->verdict == (is_width ? pools[_i].width_verdict
						  : pools[_i].share));
	}
	ck_assert_int_eq(judged, 2);
	free(cell);
}
END_TEST

START_TEST(what_no_suite_is_called_is_refused)
{
	struct verb v = VERB(cmd_accuracy, "accuracy", "--suite", "nonsense");

	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "there is no 'nonsense'");
	ck_assert_str_eq(v.out, "");
	verb_free(&v);
}
END_TEST

START_TEST(every_suite_is_in_the_help_and_can_be_named_once)
{
	for (size_t i = 0; i < accuracy_suite_count; i++) {
		const struct accuracy_suite *s = accuracy_suites[i];

		ck_assert_msg(strstr(cmd_accuracy.usage, s->name) != NULL, "%s",
			      s->name);
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(s->name, accuracy_suites[k]->name);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("accuracy");
	TCase *t = tcase_create("accuracy");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, both_directions_of_a_cell_are_one);
	tcase_add_test(t, a_later_record_takes_the_place_of_an_earlier_one);
	tcase_add_loop_test(t, a_total_passes_up_to_its_bound, 0,
			    sizeof(totals) / sizeof(totals[0]));
	tcase_add_test(t, a_run_that_failed_passes_nothing);
	tcase_add_test(t, a_recording_that_is_missing_fails);
	tcase_add_loop_test(
		t, of_what_was_not_seen_the_interval_ends_at_3_69_periods, 0,
		sizeof(unseen) / sizeof(unseen[0]));
	tcase_add_test(
		t, of_equal_samples_the_false_share_has_the_binomial_interval);
	tcase_add_test(t, cells_are_judged_by_their_share_of_the_highest);
	tcase_add_test(t, the_median_leaves_out_other_figures);
	tcase_add_loop_test(
		t, stated_intervals_must_hold_in_19_of_20_cells_and_be_narrow,
		0, sizeof(pools) / sizeof(pools[0]));
	tcase_add_test(t, what_no_suite_is_called_is_refused);
	tcase_add_test(t, every_suite_is_in_the_help_and_can_be_named_once);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
