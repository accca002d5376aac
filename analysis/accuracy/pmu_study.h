/* SPDX-License-Identifier: MIT */
/*
 * pmu_study - the study of precise event sampling, for the sources at hand
 *
 * Chapter 4 of M. A. Sasongko's PhD thesis (2022): loops whose accesses are
 * known by construction (microbench/precise.h) run under each source that
 * opens here, and every sample is held to the instruction it must come from.
 * A run is a `reusetrack record` of its own with a log of its samples
 * (src/store/sample_log.h). Columns stand for sources, and for two ways to run
 * without one, with which their cost is compared.
 */
#ifndef COMDET_ANALYSIS_ACCURACY_PMU_STUDY_H
#define COMDET_ANALYSIS_ACCURACY_PMU_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "accuracy.h"
#include "src/base/access.h"

enum precise_column {
	PRECISE_NATIVE,
	PRECISE_QEMU, /* without a plugin */
	PRECISE_CLOCK,
	PRECISE_EMU,
	PRECISE_INSTR,
	PRECISE_PEBS,
	PRECISE_IBS,
	PRECISE_COLUMNS
};
#define PRECISE_FIRST PRECISE_CLOCK /* of the sources */

enum {
	PRECISE_RUNS_MAX = 20,
	PRECISE_SITES = 8,
	PRECISE_WORDS = 64, /* threads */
	PRECISE_FREQ_MAX = 20000,
};

/* An instruction of the loop, and the samples that it got. */
struct precise_site {
	char name[16], event[16];
	uint64_t low, high; /* code; 0: known by what it accesses */
	uint64_t word[PRECISE_WORDS];
	size_t words;
	uint64_t bytes;
	uint64_t count; /* true executions that are accesses */
	uint64_t samples[SAMPLE_KINDS];
};

struct precise_run {
	/* What to run. */
	enum precise_column column;
	const char *program, *options;
	uint64_t iterations;
	uint64_t period; /* accesses between samples; the clock has: */
	uint64_t freq;   /* samples a second of CPU time */
	double interval; /* true accesses between samples, as asked for */
	uint64_t seed;
	/* What came of it. */
	char *failed; /* NULL: all that follows is there */
	struct precise_site site[PRECISE_SITES];
	size_t sites;
	uint64_t elsewhere[SAMPLE_KINDS]; /* samples outside of the loop */
	uint64_t kernel; /* of all samples: instructions of the kernel's */
	uint64_t locked_in_kernel; /* executions */
	double seconds, cpu_seconds;
	uint64_t peak_kb;
};

/* Whether a column's source opens here. */
struct precise_source {
	bool wanted, opens;
	char reason[400], advice[400]; /* where it does not */
};

extern const char *const precise_names[PRECISE_COLUMNS];

struct precise {
	struct accuracy *all;
	struct precise_source source[PRECISE_COLUMNS];
	unsigned int runs; /* of each figure */
	unsigned int made; /* so far */
};

/* pmu_study_source.c: try those that @list names, by commas; NULL: all. */
void precise_look(struct precise *p, const char *list);

/* pmu_study_run.c */
void precise_execute(struct precise *p, struct precise_run *r);

/* pmu_study_read.c: what the program said, and the log; sets failed or results
 */
void precise_read_answer(struct precise_run *r, const char *path);
void precise_read_log(struct precise_run *r, const char *path);

/*
 * Samples of all kinds at sites of the events in @events, words of a text,
 * NULL: any; executions of these.
 */
bool precise_is_among(const struct precise_site *s, const char *events);
double precise_samples(const struct precise_run *r, const char *events);
double precise_accesses(const struct precise_run *r, const char *events);

/*
 * pmu_study_plan.c: let @r sample every @interval accesses, about @samples
 * times, in a loop of so many accesses an iteration that performs @rate a
 * second. The clock is asked for so many samples a second instead. False where
 * a source cannot be asked for so many.
 */
bool precise_plan(struct precise_run *r, double interval, double samples,
		  double an_iteration, double rate);
/* Accesses a second of CPU time, by a run of the loop without a profiler. */
double precise_rate(struct precise *p, const char *program,
		    const char *options);
/*
 * The bound of a count of @truth samples, as a part of it: the larger of 1 %
 * and three standard errors of the mean of @runs counts. With @subset only some
 * of the accesses that the source's counter counts are meant.
 */
double precise_bound(enum precise_column c, double truth, unsigned int runs,
		     bool subset);

/* Some runs of the same. */
struct precise_point {
	unsigned int runs;
	struct precise_run run[PRECISE_RUNS_MAX];
};

/* Add a run like @model, and its results. */
void precise_add(struct precise *p, struct precise_point *to,
		 const struct precise_run *model);
void precise_point_release(struct precise_point *p);

struct precise_mean {
	unsigned int n;
	double mean, error; /* standard error of the mean; NAN of one run */
};

/* Over the runs that did not fail, of any figure. */
struct precise_mean precise_mean(const struct precise_point *p,
				 double (*figure)(const struct precise_run *,
						  const void *arg),
				 const void *arg);

/* The same loop under all sources. */
struct precise_row {
	struct precise_run model[PRECISE_COLUMNS]; /* iterations 0: not run */
	struct precise_point point[PRECISE_COLUMNS];
};

/*
 * pmu_study_row.c: what to run of a loop with so many accesses an iteration,
 * for about @samples samples; with @clock_interval 0 the clock, which takes a
 * quarter of them, has an interval of its own.
 */
struct precise_row *precise_row_new(struct precise *p, const char *program,
				    const char *options, double interval,
				    double samples, double an_iteration,
				    double clock_interval);
/* Runs in turns, so that a disturbance meets all sources. */
void precise_row_run(struct precise *p, struct precise_row *row);
void precise_row_free(struct precise_row *row);
/* How many samples a run should have of @events. */
double precise_truth(const struct precise_run *r, const char *events);

/*
 * pmu_study_table.c: a cell of row @label for a column, "-" where none is put.
 */
struct precise_table;
struct precise_table *precise_table_new(const struct precise *p,
					const char *title, const char *head);
void precise_table_put(struct precise_table *t, const char *label,
		       enum precise_column c, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A row even if nothing is put into it. */
void precise_table_label(struct precise_table *t, const char *label);
/* Print it unless rows go to JSON; releases it. */
void precise_table_end(struct precise_table *t);

/*
 * A row for the verdict, in relative error or, with @points, by difference.
 */
void precise_judge(struct precise *p, enum precise_column c, char *name,
		   const char *metric, struct precise_mean m, double truth,
		   bool points, double bound);
/*
 * Counts of samples by what they should be, in the table and as rows: judged
 * from an interval of 1000 on; of the clock the share of its uniform samples,
 * which is all that is told where @events are not all.
 */
void precise_put_counts(struct precise *p, struct precise_table *t,
			const char *benchmark, const char *label,
			const struct precise_row *row, const char *events,
			bool subset);
/* CPU time of an access, or peak memory, by that without a profiler. */
void precise_put_time(struct precise_table *t, const char *label,
		      const struct precise_row *row);
void precise_put_memory(struct precise_table *t, const char *label,
			const struct precise_row *row);

/* The benchmarks: pmu_study_loops.c, pmu_study_modes.c, pmu_study_cost.c. */
void precise_load_ratio(struct precise *p);
void precise_locked_load(struct precise *p);
void precise_bias(struct precise *p);
void precise_multi_event(struct precise *p);
void precise_exec_mode(struct precise *p);
void precise_cost(struct precise *p);

/* pmu_study.c: all of it. Dies if no source of @list, NULL: any, opens. */
void precise_all(struct accuracy *all, const char *list);

#endif
