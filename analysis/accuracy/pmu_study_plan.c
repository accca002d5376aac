/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_plan - how long to run, how often to sample, and which bound to set
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pmu_study_internal.h"
#include "analysis/base/util.h"

enum {
	RATE_ITERATIONS = 10 * 1000, /* the first try makes RATE_MORE times as
					many */
	RATE_MORE = 10,
	PERIOD_MIN = 100, /* of every source that takes a period */
};
/* Of the clock: 1,000 interrupts, most of Exec-Mode's in the kernel. */
#define SECONDS_MIN  0.5
#define RATE_SECONDS 0.01 /* at least, to measure a rate */
#define ERROR_MIN    0.01 /* of a count */
#define ERRORS       4    /* standard errors: one count in 16,000 by chance */

bool pmu_study_plan(struct pmu_study_run *r, double interval, double samples,
		    double an_iteration, double rate)
{
	double accesses = interval * samples;

	if (accesses < SECONDS_MIN * rate &&
	    (r->column == PMU_STUDY_CLOCK || r->column == PMU_STUDY_NATIVE))
		accesses = SECONDS_MIN * rate;
	r->iterations = (uint64_t)(accesses / an_iteration);
	r->interval = interval;
	r->period = (uint64_t)interval;
	if (r->column != PMU_STUDY_CLOCK)
		return r->period >= PERIOD_MIN;
	r->freq = (uint64_t)round(rate / interval);
	if (r->freq)
		r->interval = rate / (double)r->freq;
	return r->freq && r->freq <= PMU_STUDY_FREQ_MAX;
}

double pmu_study_rate(struct pmu_study *p, const char *program,
		      const char *options)
{
	struct pmu_study_run r = {
		.column = PMU_STUDY_NATIVE,
		.program = program,
		.options = options,
		.iterations = RATE_ITERATIONS,
	};

	do {
		r.iterations *= RATE_MORE;
		pmu_study_execute(p, &r);
		if (r.failed)
			die("%s cannot be run: %s", program,
			    safe_text(r.failed));
	} while (r.cpu_seconds < RATE_SECONDS);
	return pmu_study_accesses(&r, NULL) / r.cpu_seconds;
}

/*
 * The variance of a count of events over a stretch that begins anywhere, with
 * independent intervals of mean m and deviation s between them, is n (s/m)^2 +
 * 1/6 (Cox, Renewal Theory, 1962). The stretch may begin at the same place in
 * every run, so more runs do not lower the second part. A count without a
 * counter of its own is taken as a Poisson number.
 */
double pmu_study_bound(enum pmu_study_column c, double truth, unsigned int runs,
		       bool chance)
{
	/*
	 * The width of the uniform distribution of intervals, as a part of the
	 * period; s/m follows from it. The number of samples of emu and instr,
	 * one in every period, varies by less than that of such intervals.
	 */
	static const double width[PMU_STUDY_COLUMNS] = {
		[PMU_STUDY_EMU] = 1.0 / 8,
		[PMU_STUDY_INSTR] = 1.0 / 8,
		[PMU_STUDY_PEBS] = 1.0 / 2,
	};
	double cv = chance || !(width[c] > 0) ? 1 : width[c] / sqrt(12);
	double error = sqrt(truth * cv * cv / runs + 1.0 / 6) / truth;

	return fmax(ERROR_MIN, ERRORS * error);
}

void pmu_study_add(struct pmu_study *p, struct pmu_study_point *to,
		   const struct pmu_study_run *model)
{
	struct pmu_study_run *r = &to->run[to->runs++];

	*r = *model;
	r->seed = p->made + 1;
	pmu_study_execute(p, r);
}

void pmu_study_point_release(struct pmu_study_point *p)
{
	for (unsigned int i = 0; i < p->runs; i++)
		free(p->run[i].failed);
	p->runs = 0;
}

bool pmu_study_is_among(const struct pmu_study_site *s, const char *events)
{
	return !events || strstr(events, s->event);
}

double pmu_study_samples(const struct pmu_study_run *r, const char *events)
{
	double sum = 0;

	for (size_t i = 0; i < r->sites; i++)
		if (pmu_study_is_among(&r->site[i], events))
			for (int k = 0; k < SAMPLE_KINDS; k++)
				sum += (double)r->site[i].samples[k];
	return sum;
}

double pmu_study_accesses(const struct pmu_study_run *r, const char *events)
{
	double sum = 0;

	for (size_t i = 0; i < r->sites; i++)
		if (pmu_study_is_among(&r->site[i], events))
			sum += (double)r->site[i].count;
	return sum;
}

struct pmu_study_mean pmu_study_mean(
	const struct pmu_study_point *p,
	double (*figure)(const struct pmu_study_run *, const void *),
	const void *arg)
{
	struct pmu_study_mean m = { .mean = NAN, .error = NAN };
	double x[PMU_STUDY_RUNS_MAX], sum = 0, squares = 0;

	for (unsigned int i = 0; i < p->runs; i++)
		if (!p->run[i].failed)
			sum += x[m.n++] = figure(&p->run[i], arg);
	if (m.n)
		m.mean = sum / m.n;
	for (unsigned int i = 0; i < m.n; i++)
		squares += (x[i] - m.mean) * (x[i] - m.mean);
	if (m.n > 1)
		m.error = sqrt(squares / (m.n - 1) / m.n);
	return m;
}
