/* SPDX-License-Identifier: MIT */
/*
 * chains - chains of dependences in micro-traces
 *
 * For the model's equations (equation.h): the longest chain in a window of
 * micro-operations, how long a branch waits, and how many misses are under way
 * at a time.
 */
#ifndef COMDET_ANALYSIS_PREDICT_CHAINS_H
#define COMDET_ANALYSIS_PREDICT_CHAINS_H

#include "workload.h"

struct chains;

struct chains *chains_new(void);
void chains_free(struct chains *c);

/* What each micro-operation costs in a chain; 0 for what it does not count. */
struct chains_costs {
	float cost[MICRO_UOPS];
	bool miss[MICRO_UOPS]; /* a load from memory */
	bool flight;      /* a load waits for the load that fetches its line */
	bool zero_idioms; /* they begin chains */
	/* Cycles from the entry of one to the entry of the next; 0: all enter
	 * at once. */
	double entry;
};

/* Over all windows of some length, each half a length after the one before. */
struct chains_sums {
	double windows, longest;  /* how many, and their longest chains */
	double branches, resolve; /* conditional ones, and the chains to them,
				     from their own entry */
	double misses, in_row;    /* and the longest chains of misses */
};

void chains_add(struct chains *c, const struct workload_thread *t,
		const struct micro_trace *m, const struct chains_costs *costs,
		uint32_t length, struct chains_sums *to);

#endif
