/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_loops - Load-Ratio, Locked-Load and Bias-Bench
 *
 * They show how many samples come, and whether each instruction gets its share.
 */
#include <math.h>
#include <stdlib.h>

#include "pmu_study_internal.h"
#include "judge.h"
#include "analysis/base/util.h"

#define UNIFORM_BOUND 0.03  /* of a share of the clock's uniform samples */
#define BIAS_BOUND    0.01  /* of a share of another source's samples */
#define BIAS_SAMPLES  24000 /* per run */
#define BIAS_LEAST    17000 /* over all runs */

enum {
	LOADS = 4, /* in Bias-Bench */
	COST_ITERATIONS = 500 * 1000 * 1000,
};

void pmu_study_load_ratio(struct pmu_study *p)
{
	static const struct {
		int ratio;
		bool brief;
	} cases[] = {
		{ 4, true },  { 8, false },  { 12, false }, { 16, false },
		{ 20, true }, { 32, false }, { 64, false },
	};
	double interval = p->all->short_form ? 10e3 : 100e3;
	struct pmu_study_table *counts = pmu_study_table_new(
		p,
		"Load-Ratio: samples taken, of 100 expected, +- standard error "
		"(figure 4.2)",
		"loads");
	struct pmu_study_table *time =
		pmu_study_table_new(p,
				    "Load-Ratio: CPU time of the loop, "
				    "relative to no profiler (figure 4.4)",
				    "loads");
	struct pmu_study_table *memory = pmu_study_table_new(
		p, "Load-Ratio: peak resident memory, the same (figure 4.6)",
		"loads");

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *options = xasprintf("--ratio %d", cases[i].ratio);
		char *label = xasprintf("1/%d", cases[i].ratio);
		struct pmu_study_row *row;

		if (p->all->short_form && !cases[i].brief)
			continue;
		row = pmu_study_row_new(p, "load_ratio", options, interval,
					2000, 1, 0);
		pmu_study_row_run(p, row);
		pmu_study_put_counts(p, counts, "Load-Ratio", label, row, NULL,
				     false);
		pmu_study_put_time(time, label, row);
		pmu_study_put_memory(memory, label, row);
		pmu_study_row_free(row);
		free(options);
		free(label);
	}
	pmu_study_table_end(counts);
	pmu_study_table_end(time);
	pmu_study_table_end(memory);
}

void pmu_study_locked_load(struct pmu_study *p)
{
	static const struct {
		double interval, samples;
		bool brief;
	} cases[] = {
		{ 100, 20000, true },   { 1e3, 20000, true },
		{ 10e3, 4000, true },   { 100e3, 1000, false },
		{ 1000e3, 200, false },
	};
	struct pmu_study_table *t =
		pmu_study_table_new(p,
				    "Locked-Load: samples taken, of 100 "
				    "expected, +- standard error "
				    "(figure 4.3)",
				    "interval");

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pmu_study_row *row;

		if (p->all->short_form && !cases[i].brief)
			continue;
		row = pmu_study_row_new(p, "locked_load", "", cases[i].interval,
					cases[i].samples, 1, cases[i].interval);
		row->model[PMU_STUDY_NATIVE].iterations *=
			row->model[PMU_STUDY_CLOCK].iterations > 0;
		pmu_study_row_run(p, row);
		pmu_study_put_counts(p, t, "Locked-Load",
				     count_text((uint64_t)cases[i].interval),
				     row, NULL, false);
		pmu_study_row_free(row);
	}
	pmu_study_table_end(t);
}

/* The samples of all runs at a site: of one kind, or of all kinds with -1. */
static double sum_of(const struct pmu_study_point *of, size_t site, int kind)
{
	double sum = 0;

	for (unsigned int i = 0; i < of->runs; i++)
		for (int k = 0; k < SAMPLE_KINDS && !of->run[i].failed; k++)
			if (kind < 0 || k == kind)
				sum += (double)of->run[i].site[site].samples[k];
	return sum;
}

static void judge_samples(struct pmu_study *p, const struct pmu_study_point *of,
			  double all)
{
	struct pmu_study_mean m = { of->runs, all, NAN };

	pmu_study_judge(p, of->run[0].column, xstrdup("Bias-Bench"),
			"samples in all", m, BIAS_LEAST, false, NAN);
	if (of->run[0].column != PMU_STUDY_CLOCK)
		accuracy_verdict(&p->all->row[p->all->rows - 1],
				 all >= BIAS_LEAST);
}

static void put_bias(struct pmu_study *p, struct pmu_study_table *t,
		     const struct pmu_study_point *of, int kind, double bound)
{
	const struct pmu_study_run *r = &of->run[0];
	double all = 0, share, truth;

	for (size_t i = 0; i < r->sites; i++)
		all += sum_of(of, i, kind);
	for (size_t i = 0; i < r->sites; i++) {
		share = sum_of(of, i, kind) / all;
		truth = r->site[i].count ? 1.0 / LOADS : 0;
		pmu_study_table_put(t, r->site[i].name, r->column, "%.2f %%%s",
				    100 * share,
				    fabs(share - truth) <= bound ? "" : " !");
		pmu_study_judge(p, r->column,
				xasprintf("Bias-Bench %s", r->site[i].name),
				"share of samples",
				(struct pmu_study_mean){
					of->runs, share,
					sqrt(share * (1 - share) / all) },
				truth, true, bound);
	}
	pmu_study_table_put(t, "samples", r->column, "%.0f", all);
	judge_samples(p, of, all);
}

void pmu_study_bias(struct pmu_study *p)
{
	struct pmu_study_row *row = pmu_study_row_new(p, "bias_bench", "", 1000,
						      BIAS_SAMPLES, LOADS, 0);
	struct pmu_study_table *t = pmu_study_table_new(
		p,
		"Bias-Bench: share of the samples, 25 % expected of each load "
		"(table 4.3);\n  for the clock, of its uniform samples",
		"instruction");

	pmu_study_row_run_profiled(p, row);
	for (int c = PMU_STUDY_FIRST; c < PMU_STUDY_COLUMNS; c++) {
		const struct pmu_study_point *of = &row->point[c];

		if (!of->runs || of->run[0].failed)
			continue;
		if (c == PMU_STUDY_CLOCK)
			put_bias(p, t, of, SAMPLE_UNIFORM, UNIFORM_BOUND);
		else
			put_bias(p, t, of, -1, BIAS_BOUND);
	}
	pmu_study_table_end(t);
	pmu_study_row_free(row);
}

void pmu_study_cost(struct pmu_study *p)
{
	static const double intervals[] = { 100e3, 500e3, 1000e3, 2000e3 };
	struct pmu_study_table *time = pmu_study_table_new(
		p,
		"Load-Ratio 1/20 by interval: CPU time of the loop, relative "
		"to no profiler\n  (form of table 5.2)",
		"interval");
	struct pmu_study_table *memory = pmu_study_table_new(
		p, "The same: peak resident memory", "interval");
	struct pmu_study_table *error = pmu_study_table_new(
		p, "The same: samples taken, of 100 expected", "interval");

	p->source[PMU_STUDY_QEMU].wanted = p->source[PMU_STUDY_EMU].wanted;
	for (size_t i = 0; i < sizeof(intervals) / sizeof(*intervals); i++) {
		const char *label = count_text((uint64_t)intervals[i]);
		struct pmu_study_row *row = pmu_study_row_new(
			p, "load_ratio", "--ratio 20", intervals[i],
			COST_ITERATIONS / intervals[i], 1, intervals[i]);

		for (int c = 0; c < PMU_STUDY_COLUMNS; c++)
			if (row->model[c].iterations)
				row->model[c].iterations = COST_ITERATIONS;
		pmu_study_row_run(p, row);
		pmu_study_put_counts(p, error, "Load-Ratio 1/20, cost", label,
				     row, NULL, false);
		pmu_study_put_time(time, label, row);
		pmu_study_put_memory(memory, label, row);
		pmu_study_row_free(row);
	}
	p->source[PMU_STUDY_QEMU].wanted = false;
	pmu_study_table_end(time);
	pmu_study_table_end(memory);
	pmu_study_table_end(error);
}
