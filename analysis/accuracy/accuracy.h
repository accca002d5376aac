/* SPDX-License-Identifier: MIT */
/*
 * accuracy - score estimates against exact counts: what the parts share
 *
 * A trial is one run of a microbenchmark under the source emu, sampled and
 * exact over the same accesses. A suite plans trials, has them run, and makes
 * rows of them. A row compares one figure with the truth.
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
	/*
	 * The machine of accuracy_sockets: two sockets with this many cores
	 * each.
	 */
	ACCURACY_SOCKET_CORES = 16,
	ACCURACY_SOCKET_DISTANCE = 2, /* between cores of different sockets */
	ACCURACY_FEW = 30, /* estimates from fewer transfers are weak */
};

#define ACCURACY_TOTAL "transfers" /* the metric of accuracy_judge_total */

struct accuracy_cell {
	uint32_t a, b; /* threads by their start, a < b */
	uint64_t seen; /* transfers that were trapped */
	double estimate, low, high;
	double low_sampling, high_sampling; /* without the systematic error */
	uint64_t exact;
};

/* The result of a trial. */
struct accuracy_outcome {
	uint64_t accesses, samples;
	uint64_t traps; /* at watched words or lines */
	uint64_t seen;  /* transfers among them */
	double estimate, low, high;
	double low_sampling, high_sampling;
	/*
	 * The share of the transfers that are false sharing; its interval
	 * covers sampling alone.
	 */
	double false_share, false_low, false_high;
	double volume; /* of a communication map: detections times their weight
			*/
	double apart;  /* share of the detections between two sockets */
	uint64_t exact, exact_false;
	double exact_apart;         /* of the misses that another core's cache
				       served, the share between two sockets */
	struct accuracy_cell *cell; /* with an estimate or a count */
	size_t cells;
};

struct accuracy_trial {
	/* What to run. */
	const char *suite;
	char *label; /* the case, without the parameters below */
	const char *program;
	char *arguments; /* separated by blanks */
	uint32_t threads;
	const char *algorithm;
	bool chunks;     /* watch 8 bytes a register, else whole lines */
	uint64_t arming; /* accesses made while arming */
	uint64_t period, slice, seed;
	uint32_t registers, board;
	const char *topology, *place; /* NULL: the host's */
	double parameter;             /* the value that the sweep varies */
	/* The result: */
	char *failed; /* why there is no outcome, else NULL */
	struct accuracy_outcome outcome;
};

enum accuracy_verdict {
	ACCURACY_SHOWN, /* not judged */
	ACCURACY_PASSED,
	ACCURACY_FAILED,
};

/* Numbers that do not apply are NAN. */
struct accuracy_row {
	const char *suite, *metric;
	const char *source; /* NULL: emu */
	char *name;
	uint32_t threads; /* 0: several trials */
	double measured, truth, error, low, high, bound;
	enum accuracy_verdict verdict;
};

/* What the user asked for, and all trials and rows so far. */
struct accuracy {
	bool short_form, json;
	uint64_t slice;
	unsigned int jobs;
	const char *keep; /* directory for the recordings, or NULL */
	bool resume;      /* use recordings that are there */
	long minutes;     /* start no run later than this; -1: no limit */
	size_t left_out;  /* runs that time did not allow */
	struct accuracy_trial *trial;
	size_t trials, trials_room;
	size_t suite_first; /* first trial of the current suite */
	struct accuracy_row *row;
	size_t rows, rows_room;
};

struct accuracy_suite {
	const char *name;
	const char *title; /* for people */
	bool in_short;     /* part of the short form */
	bool whole;        /* rows compare runs, so all must have run */
	void (*plan)(struct accuracy *all);
	/*
	 * Trials @first to all->trials belong to this suite, and have been run.
	 */
	void (*judge)(struct accuracy *all, size_t first);
};

#endif
