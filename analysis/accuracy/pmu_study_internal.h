/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_internal - what the files of pmu_study share
 */
#ifndef COMDET_ANALYSIS_ACCURACY_PMU_STUDY_INTERNAL_H
#define COMDET_ANALYSIS_ACCURACY_PMU_STUDY_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmu_study.h"
#include "src/base/access.h"

enum pmu_study_column {
	PMU_STUDY_NATIVE,
	PMU_STUDY_QEMU, /* without a plugin */
	PMU_STUDY_CLOCK,
	PMU_STUDY_EMU,
	PMU_STUDY_INSTR,
	PMU_STUDY_PEBS,
	PMU_STUDY_IBS,
	PMU_STUDY_COLUMNS
};
#define PMU_STUDY_FIRST PMU_STUDY_CLOCK /* the first source */

enum {
	PMU_STUDY_RUNS_MAX = 20,
	PMU_STUDY_SITES = 8,
	PMU_STUDY_WORDS = 64, /* threads */
	PMU_STUDY_FREQ_MAX = 20000,
};

/* An instruction of the loop, and its samples. */
struct pmu_study_site {
	char name[16], event[16];
	uint64_t low, high; /* its code; 0: recognized by the words that it
			       accesses */
	uint64_t word[PMU_STUDY_WORDS];
	size_t words;
	uint64_t bytes;
	uint64_t count; /* true executions, if they are accesses */
	uint64_t samples[SAMPLE_KINDS];
};

struct pmu_study_run {
	/* What to run. */
	enum pmu_study_column column;
	const char *program, *options;
	uint64_t iterations;
	uint64_t period; /* accesses between samples; the clock has freq */
	uint64_t freq;   /* samples a second of CPU time */
	double interval; /* true accesses between samples, as requested */
	uint64_t seed;
	/* The result: */
	char *failed; /* why the run failed; NULL: the following is set */
	struct pmu_study_site site[PMU_STUDY_SITES];
	size_t sites;
	uint64_t elsewhere[SAMPLE_KINDS]; /* samples outside the loop */
	uint64_t kernel;           /* samples at instructions of the kernel */
	uint64_t locked_in_kernel; /* executions */
	double seconds, cpu_seconds;
	uint64_t peak_kb;
};

/* Whether the source of a column opens here. */
struct pmu_study_source {
	bool wanted, opens;
	char reason[400], advice[400]; /* why not, and what to do */
};

extern const char *const pmu_study_names[PMU_STUDY_COLUMNS];

struct pmu_study {
	struct accuracy *all;
	struct pmu_study_source source[PMU_STUDY_COLUMNS];
	unsigned int runs; /* per figure */
	unsigned int made; /* so far */
};

/*
 * pmu_study_source.c: try the sources that @list names, separated by commas, or
 * all if it is NULL.
 */
void pmu_study_look(struct pmu_study *p, const char *list);

/* pmu_study_run.c: run @r and read its results. */
void pmu_study_execute(struct pmu_study *p, struct pmu_study_run *r);

/*
 * pmu_study_read.c: read the program's answer and the log of its samples; sets
 * failed, or results.
 */
void pmu_study_read_answer(struct pmu_study_run *r, const char *path);
void pmu_study_read_log(struct pmu_study_run *r, const char *path);

/*
 * Samples of all kinds, or executions, at sites whose event is one of the words
 * in @events, which blanks separate; NULL means any event.
 */
bool pmu_study_is_among(const struct pmu_study_site *s, const char *events);
double pmu_study_samples(const struct pmu_study_run *r, const char *events);
double pmu_study_accesses(const struct pmu_study_run *r, const char *events);

/*
 * pmu_study_plan.c: make @r sample every @interval accesses, about @samples
 * times, in a loop with @an_iteration accesses per iteration that performs
 * @rate a second. The clock gets samples a second instead. False if the source
 * cannot sample that often or that rarely.
 */
bool pmu_study_plan(struct pmu_study_run *r, double interval, double samples,
		    double an_iteration, double rate);
/* Accesses a second of CPU time, from a run of the loop without a profiler. */
double pmu_study_rate(struct pmu_study *p, const char *program,
		      const char *options);
/*
 * The bound of a count of @truth samples, relative to it: the larger of 1 % and
 * four standard errors of the mean of @runs counts. With @chance the number is
 * a Poisson number: the source's counter counts other accesses as well, or it
 * draws each access by itself.
 */
double pmu_study_bound(enum pmu_study_column c, double truth, unsigned int runs,
		       bool chance);

/* Several runs of the same loop. */
struct pmu_study_point {
	unsigned int runs;
	struct pmu_study_run run[PMU_STUDY_RUNS_MAX];
};

/* Do a run like @model and add it. */
void pmu_study_add(struct pmu_study *p, struct pmu_study_point *to,
		   const struct pmu_study_run *model);
void pmu_study_point_release(struct pmu_study_point *p);

struct pmu_study_mean {
	unsigned int n;
	double mean, error; /* standard error of the mean; NAN for one run */
};

/* The mean of a figure over the runs that did not fail. */
struct pmu_study_mean pmu_study_mean(
	const struct pmu_study_point *p,
	double (*figure)(const struct pmu_study_run *, const void *arg),
	const void *arg);

/* The same loop under all sources. */
struct pmu_study_row {
	struct pmu_study_run
		model[PMU_STUDY_COLUMNS]; /* iterations 0: not run */
	struct pmu_study_point point[PMU_STUDY_COLUMNS];
};

/*
 * pmu_study_row.c: plan the runs of a loop with @an_iteration accesses per
 * iteration, for about @samples samples each. The clock takes a quarter of
 * them, and with @clock_interval 0 chooses its own interval.
 */
struct pmu_study_row *pmu_study_row_new(struct pmu_study *p,
					const char *program,
					const char *options, double interval,
					double samples, double an_iteration,
					double clock_interval);
/* Run the sources in turns, so that a disturbance affects all of them. */
void pmu_study_row_run(struct pmu_study *p, struct pmu_study_row *row);
/* The same, without the run that has no profiler. */
void pmu_study_row_run_profiled(struct pmu_study *p, struct pmu_study_row *row);
void pmu_study_row_free(struct pmu_study_row *row);
/* The number of samples that a run should have at @events. */
double pmu_study_truth(const struct pmu_study_run *r, const char *events);

/*
 * pmu_study_table.c: a table with a column for each source. A cell of row
 * @label that is not put shows "-".
 */
struct pmu_study_table;
struct pmu_study_table *pmu_study_table_new(const struct pmu_study *p,
					    const char *title,
					    const char *head);
void pmu_study_table_put(struct pmu_study_table *t, const char *label,
			 enum pmu_study_column c, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Add a row even if nothing is put into it. */
void pmu_study_table_label(struct pmu_study_table *t, const char *label);
/* Print the table unless rows go to JSON, and release it. */
void pmu_study_table_end(struct pmu_study_table *t);

/* Add a judged row, by relative error or, with @points, by difference. */
void pmu_study_judge(struct pmu_study *p, enum pmu_study_column c, char *name,
		     const char *metric, struct pmu_study_mean m, double truth,
		     bool points, double bound);
/*
 * Put counts of samples, relative to the expected ones, into the table and into
 * rows. They are judged from an interval of 1000 on. The clock knows only
 * shares of its uniform samples: unless @events are all events, the share is
 * put instead of the count.
 */
void pmu_study_put_counts(struct pmu_study *p, struct pmu_study_table *t,
			  const char *benchmark, const char *label,
			  const struct pmu_study_row *row, const char *events,
			  bool subset);
/*
 * Put the CPU time of an access, or peak memory, relative to a run without a
 * profiler.
 */
void pmu_study_put_time(struct pmu_study_table *t, const char *label,
			const struct pmu_study_row *row);
void pmu_study_put_memory(struct pmu_study_table *t, const char *label,
			  const struct pmu_study_row *row);

/* The benchmarks: pmu_study_loops.c, pmu_study_modes.c. */
void pmu_study_load_ratio(struct pmu_study *p);
void pmu_study_locked_load(struct pmu_study *p);
void pmu_study_bias(struct pmu_study *p);
void pmu_study_multi_event(struct pmu_study *p);
void pmu_study_exec_mode(struct pmu_study *p);
/* Cost and error by the interval, as in table 5.2 of the thesis. */
void pmu_study_cost(struct pmu_study *p);

#endif
