/* SPDX-License-Identifier: MIT */
/*
 * accuracy - the parts of the verb that scores estimates against exact counts
 *
 * A trial is one run of a microbenchmark under the source emu, sampled and
 * exact over the same accesses. A suite plans trials, has them run, and makes
 * rows of them: a row is one figure held against the truth.
 */
#ifndef COMDET_ANALYSIS_ACCURACY_ACCURACY_H
#define COMDET_ANALYSIS_ACCURACY_ACCURACY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
	ACCURACY_REGISTERS = 4,
	ACCURACY_BOARD = 127,
	ACCURACY_PERIOD = 10000,
	/* The machine of accuracy_sockets: two sockets of so many cores. */
	ACCURACY_SOCKET_CORES = 16,
	ACCURACY_SOCKET_DISTANCE = 2, /* of cores in both */
	ACCURACY_FEW = 30, /* transfers seen: an estimate of fewer is weak */
};

#define ACCURACY_TOTAL "transfers" /* the metric of accuracy_judge_total */

struct accuracy_cell {
	uint32_t a, b; /* threads by their start, a < b */
	uint64_t seen; /* transfers that were trapped */
	double estimate, low, high;
	double low_sampling, high_sampling; /* without the systematic part */
	uint64_t exact;
};

/* What a trial brought. */
struct accuracy_outcome {
	uint64_t accesses, samples;
	uint64_t traps; /* of watched words or lines */
	uint64_t seen;  /* transfers among them */
	double estimate, low, high;
	double low_sampling, high_sampling;
	/* Of the transfers, with the interval that sampling gives. */
	double false_share, false_low, false_high;
	double volume; /* of a map: detections by what they stand for */
	double apart;  /* share of the detections between two sockets */
	uint64_t exact, exact_false;
	double exact_apart;         /* of the misses served by another cache */
	struct accuracy_cell *cell; /* not 0 in either */
	size_t cells;
};

struct accuracy_trial {
	/* What to run. */
	const char *suite;
	char *label; /* the row's case, without what follows here */
	const char *program;
	char *arguments; /* divided by blanks */
	uint32_t threads;
	const char *algorithm;
	bool chunks;     /* watch 8 bytes a register, else whole lines */
	uint64_t arming; /* accesses that arming takes */
	uint64_t period, slice, seed;
	uint32_t registers, board;
	const char *topology, *place; /* NULL: the host's */
	double parameter;             /* of a sweep, for who judges */
	/* What came of it. */
	char *failed; /* why there is no outcome, else NULL */
	struct accuracy_outcome outcome;
};

enum accuracy_verdict {
	ACCURACY_SHOWN, /* no bound */
	ACCURACY_PASSED,
	ACCURACY_FAILED,
};

/* Numbers that do not apply are NAN. */
struct accuracy_row {
	const char *suite, *metric;
	const char *source; /* NULL: emu */
	char *name;
	uint32_t threads; /* 0: of several trials */
	double measured, truth, error, low, high, bound;
	enum accuracy_verdict verdict;
};

/* What the user wants, and all that there is so far. */
struct accuracy {
	bool short_form, json;
	uint64_t slice;
	unsigned int jobs;
	const char *keep; /* directory for the recordings, or NULL */
	bool resume;      /* take the recordings that are there */
	long minutes;     /* start no run after so many; -1: no limit */
	size_t left_out;  /* runs, for that */
	struct accuracy_trial *trial;
	size_t trials, trials_room;
	size_t suite_first; /* trial of the suite that is planned */
	struct accuracy_row *row;
	size_t rows, rows_room;
};

struct accuracy_suite {
	const char *name;
	const char *title; /* for people */
	bool in_short;     /* part of the short form */
	bool whole;        /* rows compare runs: none without all of them */
	void (*plan)(struct accuracy *all);
	/* Trials @first to all->trials are this suite's, and have been run. */
	void (*judge)(struct accuracy *all, size_t first);
};

/* A topology (src/base/topology.h) for record's --topology. */
extern const char accuracy_sockets[];

extern const struct accuracy_suite *const accuracy_suites[];
extern const size_t accuracy_suite_count;

/*
 * Run the trials of @s, those from all->suite_first on, all->jobs at a time;
 * what fails says so in its trial. Trials for which time is lacking are left
 * out: all->trials is without them, and all->left_out counts them. Dies if
 * nothing can be run at all.
 */
void accuracy_run(struct accuracy *all, const struct accuracy_suite *s);

/* Read the recording @dir of @t; sets failed or outcome. */
void accuracy_read(struct accuracy_trial *t, const char *dir);
void accuracy_outcome_release(struct accuracy_outcome *o);

/*
 * A row about no trial; suite and metric are kept, the name is copied.
 */
struct accuracy_row *accuracy_row(struct accuracy *all, const char *suite,
				  const char *name, const char *metric);
void accuracy_verdict(struct accuracy_row *r, bool good);
/* Judge the row's error without sign; @bound NAN: the row is only shown. */
void accuracy_bound(struct accuracy_row *r, double bound);
double accuracy_median(double *x, size_t n);

/* A row each, about one trial. */

/* The total, by its relative error. */
void accuracy_judge_total(struct accuracy *all, const struct accuracy_trial *t,
			  double bound);
/* The total, by whether its interval holds the truth. */
void accuracy_judge_interval(struct accuracy *all,
			     const struct accuracy_trial *t);
/* The share of false transfers; with fewer traps by its interval. */
void accuracy_judge_false(struct accuracy *all, const struct accuracy_trial *t,
			  double truth, double bound, uint64_t traps);
/* Cells divided by the highest, the worst; with fewer traps only shown. */
void accuracy_judge_cells(struct accuracy *all, const struct accuracy_trial *t,
			  double bound, uint64_t traps);
/* The total's error as a part of @scale instead of the truth. */
void accuracy_judge_scaled(struct accuracy *all, const struct accuracy_trial *t,
			   double scale, double bound);
/* Any figure, by its difference or by its relative error. */
void accuracy_judge_value(struct accuracy *all, const struct accuracy_trial *t,
			  const char *metric, double measured, double truth,
			  bool relative, double bound);

/*
 * Of the rows from @first on that speak of the total: the median error without
 * sign.
 */
void accuracy_judge_median(struct accuracy *all, const char *suite,
			   const char *name, size_t first, double bound);

/* The suite intervals: of the cells of its trials, how many hold the truth. */
void accuracy_plan_intervals(struct accuracy *all);
void accuracy_judge_intervals(struct accuracy *all, size_t first);

/* A table in plain words; the same as one JSON object. */
void accuracy_print_suite(const struct accuracy_suite *s);
void accuracy_print_rows(const struct accuracy *all, size_t first);
void accuracy_print_json(const struct accuracy *all);

#endif
