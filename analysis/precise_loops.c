/* SPDX-License-Identifier: MIT */
/*
 * precise_loops - Load-Ratio, Locked-Load and Bias-Bench: how many samples
 * come, and whether each instruction gets its part of them
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/precise.h"
#include "analysis/util.h"

#define UNIFORM_BOUND 0.03  /* of a share of the clock's uniform samples */
#define BIAS_BOUND    0.01  /* of a share of another source's */
#define BIAS_SAMPLES  40000 /* a run */
#define BIAS_LEAST    17000

enum {
	CASES_MAX = 16,
	LOADS = 4, /* of Bias-Bench */
	CLOCK_HZ = 2000,
};

static bool has(const struct precise *p, enum precise_column c)
{
	return p->source[c].wanted && p->source[c].opens;
}

static double part(const struct precise_run *r)
{
	return precise_samples(r, NULL) * r->interval /
	       precise_accesses(r, NULL);
}

static double count(const struct precise_run *r)
{
	return precise_samples(r, NULL);
}

/* Of the uniform samples those at the instructions of the loop. */
static double uniform_share(const struct precise_run *r)
{
	double here = 0;

	for (size_t i = 0; i < r->sites; i++)
		if (r->site[i].count)
			here += (double)r->site[i].samples[SAMPLE_UNIFORM];
	return here / (here + (double)r->elsewhere[SAMPLE_UNIFORM]);
}

static double cpu_of_an_access(const struct precise_run *r)
{
	return r->cpu_seconds / precise_accesses(r, NULL);
}

static double peak(const struct precise_run *r)
{
	return (double)r->peak_kb;
}

/* "99.87 +- 0.05" of 100 expected; with a mark if out of bounds. */
static void put_count(struct precise *p, struct precise_table *t,
		      const char *label, const struct precise_point *of,
		      const char *benchmark, double least)
{
	enum precise_column c = of->run[0].column;
	struct precise_mean m = precise_mean(of, part);
	struct precise_mean n = precise_mean(of, count);
	const struct precise_run *r = &of->run[0];
	double truth = precise_accesses(r, NULL) / r->interval;
	bool judged = c != PRECISE_CLOCK && r->interval >= least;
	double bound = judged ? precise_bound(c, truth, of->runs) : NAN;
	char *name = xasprintf("%s %s, interval %.0f", benchmark, label,
			       r->interval);

	precise_table_put(t, label, c, "%.2f +-%.2f%s", 100 * m.mean,
			  100 * m.error,
			  judged && !(fabs(m.mean - 1) <= bound) ? " !" : "");
	precise_judge(p, c, xstrdup(name), "samples", n, truth, false, bound);
	if (c == PRECISE_CLOCK)
		precise_judge(p, c, xstrdup(name),
			      "share of the uniform samples",
			      precise_mean(of, uniform_share), 1, true,
			      UNIFORM_BOUND);
	free(name);
}

static void put_factor(struct precise_table *t, const char *label,
		       const struct precise_point *of,
		       const struct precise_point *native,
		       double (*figure)(const struct precise_run *))
{
	struct precise_mean m = precise_mean(of, figure);
	double base = precise_mean(native, figure).mean;

	precise_table_put(t, label, of->run[0].column, "%.2fx +-%.2f",
			  m.mean / base, m.error / base);
}

/* A row of points, run in turns so that a disturbance meets all of them. */
static void run_row(struct precise *p, struct precise_point *point,
		    const struct precise_run *model)
{
	for (unsigned int i = 0; i < p->runs; i++)
		for (int c = 0; c < PRECISE_COLUMNS; c++)
			if (model[c].iterations)
				precise_add(p, &point[c], &model[c]);
}

static void release_row(struct precise_point *point)
{
	for (int c = 0; c < PRECISE_COLUMNS; c++)
		precise_point_release(&point[c]);
}

/* The models of a row; what cannot be asked for has no iterations. */
static void plan_row(struct precise *p, struct precise_run *model,
		     const char *program, const char *options, double interval,
		     double samples, double an_iteration, double clock_interval)
{
	double rate = precise_rate(p, program, options);

	for (int c = 0; c < PRECISE_COLUMNS; c++) {
		bool clock = c == PRECISE_CLOCK || c == PRECISE_NATIVE;

		model[c] = (struct precise_run){
			.column = c,
			.program = program,
			.options = options,
		};
		if (c != PRECISE_NATIVE && !has(p, c))
			continue;
		if (clock && clock_interval <= 0)
			clock_interval = rate / CLOCK_HZ;
		if (!precise_plan(&model[c], clock ? clock_interval : interval,
				  samples, an_iteration, rate))
			model[c].iterations = 0;
	}
}

void precise_load_ratio(struct precise *p)
{
	static const int ratios[] = { 4, 8, 12, 16, 20, 32, 64 };
	static const int ratios_short[] = { 4, 20 };
	bool brief = p->all->short_form;
	const int *ratio = brief ? ratios_short : ratios;
	size_t n = brief ? 2 : sizeof(ratios) / sizeof(*ratios);
	double interval = brief ? 10e3 : 100e3;
	struct precise_point *point = xcalloc(PRECISE_COLUMNS, sizeof(*point));
	struct precise_run model[PRECISE_COLUMNS];
	struct precise_table *counts, *time, *memory;

	counts = precise_table_new(
		p,
		"Load-Ratio: samples of 100 expected, +- standard error "
		"(figure 4.2)",
		"loads");
	time = precise_table_new(p,
				 "Load-Ratio: CPU time of the loop, by that "
				 "without a profiler (figure 4.4)",
				 "loads");
	memory = precise_table_new(p,
				   "Load-Ratio: peak resident memory, the same "
				   "(figure 4.6)",
				   "loads");
	for (size_t i = 0; i < n; i++) {
		char *options = xasprintf("--ratio %d", ratio[i]);
		char *label = xasprintf("1/%d", ratio[i]);

		plan_row(p, model, "load_ratio", options, interval,
			 brief ? 2000 : 4000, 1, 0);
		run_row(p, point, model);
		for (int c = PRECISE_FIRST; c < PRECISE_COLUMNS; c++) {
			if (!point[c].runs)
				continue;
			put_count(p, counts, label, &point[c], "Load-Ratio",
				  1000);
			put_factor(time, label, &point[c], &point[0],
				   cpu_of_an_access);
			put_factor(memory, label, &point[c], &point[0], peak);
		}
		release_row(point);
		free(options);
		free(label);
	}
	precise_table_end(counts);
	precise_table_end(time);
	precise_table_end(memory);
	free(point);
}

void precise_locked_load(struct precise *p)
{
	static const struct {
		double interval, samples;
		bool brief;
	} cases[] = {
		{ 100, 20000, true },   { 1e3, 20000, true },
		{ 10e3, 4000, true },   { 100e3, 1000, false },
		{ 1000e3, 200, false },
	};
	struct precise_point *point = xcalloc(PRECISE_COLUMNS, sizeof(*point));
	struct precise_run model[PRECISE_COLUMNS];
	struct precise_table *t = precise_table_new(
		p,
		"Locked-Load: samples of 100 expected, +- standard error "
		"(figure 4.3)",
		"interval");

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *label = count_text((uint64_t)cases[i].interval);

		if (p->all->short_form && !cases[i].brief)
			continue;
		plan_row(p, model, "locked_load", "", cases[i].interval,
			 cases[i].samples, 1, cases[i].interval);
		model[PRECISE_NATIVE].iterations = 0;
		run_row(p, point, model);
		for (int c = PRECISE_FIRST; c < PRECISE_COLUMNS; c++)
			if (point[c].runs)
				put_count(p, t, label, &point[c], "Locked-Load",
					  1000);
		release_row(point);
	}
	precise_table_end(t);
	free(point);
}

/* The samples of all runs, by site: of one kind, or with -1 of all. */
static double bias_sum(const struct precise_point *of, size_t site, int kind)
{
	double sum = 0;

	for (unsigned int i = 0; i < of->runs; i++)
		for (int k = 0; k < SAMPLE_KINDS && !of->run[i].failed; k++)
			if (kind < 0 || k == kind)
				sum += (double)of->run[i].site[site].samples[k];
	return sum;
}

static void put_bias(struct precise *p, struct precise_table *t,
		     const struct precise_point *of, int kind)
{
	const struct precise_run *r = &of->run[0];
	enum precise_column c = r->column;
	double all = 0, true_sites = 0;

	for (size_t i = 0; i < r->sites; i++) {
		all += bias_sum(of, i, kind);
		true_sites += r->site[i].count > 0;
	}
	for (size_t i = 0; i < r->sites; i++) {
		const struct precise_site *s = &r->site[i];
		double share = bias_sum(of, i, kind) / all;
		double truth = s->count ? 1 / true_sites : 0;
		struct precise_mean m = { of->runs, share,
					  sqrt(share * (1 - share) / all) };
		double bound = c == PRECISE_CLOCK ? UNIFORM_BOUND : BIAS_BOUND;

		precise_table_put(t, s->name, c, "%.2f %%%s", 100 * share,
				  fabs(share - truth) <= bound ? "" : " !");
		precise_judge(p, c, xasprintf("Bias-Bench %s", s->name),
			      "share of samples", m, truth, true, bound);
	}
	precise_table_put(t, "samples", c, "%.0f", all);
	precise_judge(p, c, xstrdup("Bias-Bench"), "samples in all",
		      (struct precise_mean){ of->runs, all, NAN }, NAN, true,
		      NAN);
	if (c != PRECISE_CLOCK && c != PRECISE_IBS)
		accuracy_verdict(&p->all->row[p->all->rows - 1],
				 all >= BIAS_LEAST);
}

void precise_bias(struct precise *p)
{
	struct precise_point *point = xcalloc(PRECISE_COLUMNS, sizeof(*point));
	struct precise_run model[PRECISE_COLUMNS];
	struct precise_table *t = precise_table_new(
		p,
		"Bias-Bench: share of the samples, 25 % expected of each load "
		"(table 4.3);\n  of the clock its uniform half",
		"instruction");

	plan_row(p, model, "bias_bench", "", 1000, BIAS_SAMPLES, LOADS, 0);
	model[PRECISE_NATIVE].iterations = 0;
	if (has(p, PRECISE_CLOCK))
		model[PRECISE_CLOCK].iterations /= 10;
	run_row(p, point, model);
	for (int c = PRECISE_FIRST; c < PRECISE_COLUMNS; c++)
		if (point[c].runs)
			put_bias(p, t, &point[c],
				 c == PRECISE_CLOCK ? SAMPLE_UNIFORM : -1);
	precise_table_end(t);
	release_row(point);
	free(point);
}
