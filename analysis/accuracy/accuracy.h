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

#endif
