/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_row - the same loop under each source, and what the samples say
 */
#include <math.h>
#include <stdlib.h>

#include "pmu_study.h"
#include "analysis/base/util.h"

#define UNIFORM_BOUND 0.03 /* of a share of the clock's uniform samples */
#define JUDGED_FROM   1000 /* accesses between samples */

enum {
	CLOCK_HZ = 2000,
	CLOCK_PART = 4, /* of the samples: it would take longer */
};

static bool has(const struct precise *p, enum precise_column c)
{
	return c == PRECISE_NATIVE ||
	       (p->source[c].wanted && p->source[c].opens);
}

struct precise_row *precise_row_new(struct precise *p, const char *program,
				    const char *options, double interval,
				    double samples, double an_iteration,
				    double clock_interval)
{
	struct precise_row *row = xcalloc(1, sizeof(*row));
	double rate = precise_rate(p, program, options);

	if (clock_interval <= 0)
		clock_interval = rate / CLOCK_HZ;
	for (int c = 0; c < PRECISE_COLUMNS; c++) {
		struct precise_run *r = &row->model[c];
		bool clock = c == PRECISE_CLOCK || c == PRECISE_NATIVE;

		*r = (struct precise_run){
			.column = c,
			.program = program,
			.options = options,
		};
		if (!has(p, c) ||
		    !precise_plan(r, clock ? clock_interval : interval,
				  clock ? samples / CLOCK_PART : samples,
				  an_iteration, rate))
			r->iterations = 0;
	}
	return row;
}

/* The clock's interval in accesses is that of the run without it just before.
 */
static void follow_rate(struct precise_run *clock,
			const struct precise_point *native)
{
	const struct precise_run *r;

	if (!native->runs)
		return;
	r = &native->run[native->runs - 1];
	if (!r->failed)
		clock->interval = precise_accesses(r, NULL) / r->cpu_seconds /
				  (double)clock->freq;
}

void precise_row_run(struct precise *p, struct precise_row *row)
{
	for (unsigned int i = 0; i < p->runs; i++)
		for (int c = 0; c < PRECISE_COLUMNS; c++) {
			if (!row->model[c].iterations)
				continue;
			if (c == PRECISE_CLOCK)
				follow_rate(&row->model[c],
					    &row->point[PRECISE_NATIVE]);
			precise_add(p, &row->point[c], &row->model[c]);
		}
}

void precise_row_free(struct precise_row *row)
{
	for (int c = 0; c < PRECISE_COLUMNS; c++)
		precise_point_release(&row->point[c]);
	free(row);
}

double precise_truth(const struct precise_run *r, const char *events)
{
	return precise_accesses(r, events) / r->interval;
}

static double samples(const struct precise_run *r, const void *events)
{
	return precise_samples(r, events);
}

static double truth_of(const struct precise_run *r, const void *events)
{
	return precise_truth(r, events);
}

static double samples_by_truth(const struct precise_run *r, const void *events)
{
	return precise_samples(r, events) / precise_truth(r, events);
}

/* Of the uniform samples those at the events' accesses. */
static double uniform_share(const struct precise_run *r, const void *events)
{
	double all = (double)r->elsewhere[SAMPLE_UNIFORM], here = 0;

	for (size_t i = 0; i < r->sites; i++) {
		all += (double)r->site[i].samples[SAMPLE_UNIFORM];
		if (r->site[i].count && precise_is_among(&r->site[i], events))
			here += (double)r->site[i].samples[SAMPLE_UNIFORM];
	}
	return here / all;
}

static double cpu_of_an_access(const struct precise_run *r, const void *unused)
{
	return r->cpu_seconds / precise_accesses(r, NULL);
}

static double peak(const struct precise_run *r, const void *unused)
{
	return (double)r->peak_kb;
}

static void put_count(struct precise *p, struct precise_table *t,
		      const char *name, const char *label,
		      const struct precise_point *of, const char *events,
		      bool subset)
{
	const struct precise_run *r = &of->run[0];
	struct precise_mean m = precise_mean(of, samples_by_truth, events);
	double truth = precise_mean(of, truth_of, events).mean, bound = NAN;

	if (r->column != PRECISE_CLOCK && r->interval >= JUDGED_FROM)
		bound = precise_bound(r->column, truth, of->runs, subset);
	precise_table_put(t, label, r->column, "%.2f +-%.2f%s", 100 * m.mean,
			  100 * m.error, fabs(m.mean - 1) > bound ? " !" : "");
	precise_judge(p, r->column, xstrdup(name), "samples",
		      precise_mean(of, samples, events), truth, false, bound);
}

/*
 * Time does not know which access is what: of the uniform samples each event
 * should have its part.
 */
static void put_uniform(struct precise *p, struct precise_table *t, char *name,
			const char *label, const struct precise_point *of,
			const char *events)
{
	struct precise_mean m = precise_mean(of, uniform_share, events);
	const struct precise_run *r = &of->run[0];
	double truth = precise_accesses(r, events) / precise_accesses(r, NULL);

	if (events)
		precise_table_put(t, label, r->column, "%.2f +-%.2f%s",
				  100 * m.mean / truth, 100 * m.error / truth,
				  fabs(m.mean - truth) > UNIFORM_BOUND ? " !"
								       : "");
	precise_judge(p, r->column, name, "share of the uniform samples", m,
		      truth, true, UNIFORM_BOUND);
}

void precise_put_counts(struct precise *p, struct precise_table *t,
			const char *benchmark, const char *label,
			const struct precise_row *row, const char *events,
			bool subset)
{
	for (int c = PRECISE_FIRST; c < PRECISE_COLUMNS; c++) {
		const struct precise_point *of = &row->point[c];
		char *name;

		if (!of->runs || of->run[0].failed ||
		    !(precise_accesses(&of->run[0], events) > 0))
			continue;
		name = c == PRECISE_CLOCK
			       ? xasprintf("%s %s, %llu Hz", benchmark, label,
					   (unsigned long long)of->run[0].freq)
			       : xasprintf("%s %s, interval %.0f", benchmark,
					   label, of->run[0].interval);
		if (c != PRECISE_CLOCK || !events)
			put_count(p, t, name, label, of, events, subset);
		if (c == PRECISE_CLOCK)
			put_uniform(p, t, xstrdup(name), label, of, events);
		free(name);
	}
}

static void put_factors(struct precise_table *t, const char *label,
			const struct precise_row *row,
			double (*figure)(const struct precise_run *,
					 const void *))
{
	double base =
		precise_mean(&row->point[PRECISE_NATIVE], figure, NULL).mean;

	for (int c = PRECISE_NATIVE + 1; c < PRECISE_COLUMNS; c++) {
		const struct precise_point *of = &row->point[c];
		struct precise_mean m = precise_mean(of, figure, NULL);

		if (m.n)
			precise_table_put(t, label, c, "%.2fx +-%.2f",
					  m.mean / base, m.error / base);
	}
}

void precise_put_time(struct precise_table *t, const char *label,
		      const struct precise_row *row)
{
	put_factors(t, label, row, cpu_of_an_access);
}

void precise_put_memory(struct precise_table *t, const char *label,
			const struct precise_row *row)
{
	put_factors(t, label, row, peak);
}
