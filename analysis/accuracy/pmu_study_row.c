/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_row - run the same loop under each source, and compare the samples
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pmu_study_internal.h"
#include "analysis/base/util.h"

#define UNIFORM_BOUND 0.03 /* of a share of the clock's uniform samples */
#define JUDGED_FROM   1000 /* accesses between samples */

enum {
	CLOCK_HZ = 2000,
	CLOCK_PART = 4, /* the clock takes 1/4 of the samples, to save time */
};

static bool has(const struct pmu_study *p, enum pmu_study_column c)
{
	return c == PMU_STUDY_NATIVE ||
	       (p->source[c].wanted && p->source[c].opens);
}

struct pmu_study_row *pmu_study_row_new(struct pmu_study *p,
					const char *program,
					const char *options, double interval,
					double samples, double an_iteration,
					double clock_interval)
{
	struct pmu_study_row *row = xcalloc(1, sizeof(*row));
	double rate = pmu_study_rate(p, program, options);

	if (clock_interval <= 0)
		clock_interval = rate / CLOCK_HZ;
	for (int c = 0; c < PMU_STUDY_COLUMNS; c++) {
		struct pmu_study_run *r = &row->model[c];
		bool clock = c == PMU_STUDY_CLOCK || c == PMU_STUDY_NATIVE;

		*r = (struct pmu_study_run){
			.column = c,
			.program = program,
			.options = options,
		};
		if (!has(p, c) ||
		    !pmu_study_plan(r, clock ? clock_interval : interval,
				    clock ? samples / CLOCK_PART : samples,
				    an_iteration, rate))
			r->iterations = 0;
	}
	return row;
}

/*
 * Take the clock's interval in accesses from the run without a profiler just
 * before.
 */
static void follow_rate(struct pmu_study_run *clock,
			const struct pmu_study_point *native)
{
	const struct pmu_study_run *r;

	if (!native->runs)
		return;
	r = &native->run[native->runs - 1];
	if (!r->failed)
		clock->interval = pmu_study_accesses(r, NULL) / r->cpu_seconds /
				  (double)clock->freq;
}

void pmu_study_row_run(struct pmu_study *p, struct pmu_study_row *row)
{
	for (unsigned int i = 0; i < p->runs; i++)
		for (int c = 0; c < PMU_STUDY_COLUMNS; c++) {
			if (!row->model[c].iterations)
				continue;
			if (c == PMU_STUDY_CLOCK)
				follow_rate(&row->model[c],
					    &row->point[PMU_STUDY_NATIVE]);
			pmu_study_add(p, &row->point[c], &row->model[c]);
		}
}

void pmu_study_row_run_profiled(struct pmu_study *p, struct pmu_study_row *row)
{
	row->model[PMU_STUDY_NATIVE].iterations = 0;
	pmu_study_row_run(p, row);
}

void pmu_study_row_free(struct pmu_study_row *row)
{
	for (int c = 0; c < PMU_STUDY_COLUMNS; c++)
		pmu_study_point_release(&row->point[c]);
	free(row);
}

double pmu_study_truth(const struct pmu_study_run *r, const char *events)
{
	return pmu_study_accesses(r, events) / r->interval;
}

static double samples(const struct pmu_study_run *r, const void *events)
{
	return pmu_study_samples(r, events);
}

static double truth_of(const struct pmu_study_run *r, const void *events)
{
	return pmu_study_truth(r, events);
}

static double samples_by_truth(const struct pmu_study_run *r,
			       const void *events)
{
	return pmu_study_samples(r, events) / pmu_study_truth(r, events);
}

/* The share of uniform samples at accesses of the events. */
static double uniform_share(const struct pmu_study_run *r, const void *events)
{
	double all = (double)r->elsewhere[SAMPLE_UNIFORM], here = 0;

	for (size_t i = 0; i < r->sites; i++) {
		all += (double)r->site[i].samples[SAMPLE_UNIFORM];
		if (r->site[i].count && pmu_study_is_among(&r->site[i], events))
			here += (double)r->site[i].samples[SAMPLE_UNIFORM];
	}
	return here / all;
}

static double cpu_of_an_access(const struct pmu_study_run *r,
			       const void *unused)
{
	return r->cpu_seconds / pmu_study_accesses(r, NULL);
}

static double peak(const struct pmu_study_run *r, const void *unused)
{
	return (double)r->peak_kb;
}

/* instr draws each store by itself, so that transfers have even chances. */
static bool draws_each(const struct pmu_study_run *r, const char *events)
{
	for (size_t i = 0; i < r->sites; i++)
		if (r->column == PMU_STUDY_INSTR && r->site[i].count &&
		    pmu_study_is_among(&r->site[i], events) &&
		    strcmp(r->site[i].event, "load"))
			return true;
	return false;
}

static void put_count(struct pmu_study *p, struct pmu_study_table *t,
		      const char *name, const char *label,
		      const struct pmu_study_point *of, const char *events,
		      bool subset)
{
	const struct pmu_study_run *r = &of->run[0];
	struct pmu_study_mean m = pmu_study_mean(of, samples_by_truth, events);
	double truth = pmu_study_mean(of, truth_of, events).mean, bound = NAN;

	if (r->column != PMU_STUDY_CLOCK && r->interval >= JUDGED_FROM)
		bound = pmu_study_bound(r->column, truth, of->runs,
					subset || draws_each(r, events));
	pmu_study_table_put(t, label, r->column, "%.2f +-%.2f%s", 100 * m.mean,
			    100 * m.error,
			    fabs(m.mean - 1) > bound ? " !" : "");
	pmu_study_judge(p, r->column, xstrdup(name), "samples",
			pmu_study_mean(of, samples, events), truth, false,
			bound);
}

/*
 * A clock does not tell events apart, but each should have its share of the
 * uniform samples.
 */
static void put_uniform(struct pmu_study *p, struct pmu_study_table *t,
			char *name, const char *label,
			const struct pmu_study_point *of, const char *events)
{
	struct pmu_study_mean m = pmu_study_mean(of, uniform_share, events);
	const struct pmu_study_run *r = &of->run[0];
	double truth =
		pmu_study_accesses(r, events) / pmu_study_accesses(r, NULL);

	if (events)
		pmu_study_table_put(t, label, r->column, "%.2f +-%.2f%s",
				    100 * m.mean / truth, 100 * m.error / truth,
				    fabs(m.mean - truth) > UNIFORM_BOUND ? " !"
									 : "");
	pmu_study_judge(p, r->column, name, "share of the uniform samples", m,
			truth, true, UNIFORM_BOUND);
}

void pmu_study_put_counts(struct pmu_study *p, struct pmu_study_table *t,
			  const char *benchmark, const char *label,
			  const struct pmu_study_row *row, const char *events,
			  bool subset)
{
	for (int c = PMU_STUDY_FIRST; c < PMU_STUDY_COLUMNS; c++) {
		const struct pmu_study_point *of = &row->point[c];
		char *name;

		if (!of->runs || of->run[0].failed ||
		    !(pmu_study_accesses(&of->run[0], events) > 0))
			continue;
		name = c == PMU_STUDY_CLOCK
			       ? xasprintf("%s %s, %llu Hz", benchmark, label,
					   (unsigned long long)of->run[0].freq)
			       : xasprintf("%s %s, interval %.0f", benchmark,
					   label, of->run[0].interval);
		if (c != PMU_STUDY_CLOCK || !events)
			put_count(p, t, name, label, of, events, subset);
		if (c == PMU_STUDY_CLOCK)
			put_uniform(p, t, xstrdup(name), label, of, events);
		free(name);
	}
}

static void put_factors(struct pmu_study_table *t, const char *label,
			const struct pmu_study_row *row,
			double (*figure)(const struct pmu_study_run *,
					 const void *))
{
	double base =
		pmu_study_mean(&row->point[PMU_STUDY_NATIVE], figure, NULL)
			.mean;

	for (int c = PMU_STUDY_NATIVE + 1; c < PMU_STUDY_COLUMNS; c++) {
		const struct pmu_study_point *of = &row->point[c];
		struct pmu_study_mean m = pmu_study_mean(of, figure, NULL);

		if (m.n)
			pmu_study_table_put(t, label, c, "%.2fx +-%.2f",
					    m.mean / base, m.error / base);
	}
}

void pmu_study_put_time(struct pmu_study_table *t, const char *label,
			const struct pmu_study_row *row)
{
	put_factors(t, label, row, cpu_of_an_access);
}

void pmu_study_put_memory(struct pmu_study_table *t, const char *label,
			  const struct pmu_study_row *row)
{
	put_factors(t, label, row, peak);
}
