/* SPDX-License-Identifier: MIT */
/*
 * sampled_strata - groups of sampled accesses, and what stands for them
 *
 * A group is an octave of reuse times, first uses, or uses after another
 * thread's store.
 */
#ifndef COMDET_ANALYSIS_PREDICT_SAMPLED_STRATA_H
#define COMDET_ANALYSIS_PREDICT_SAMPLED_STRATA_H

#include "workload.h"
#include "analysis/locality/reuse_cells.h"

enum {
	SAMPLED_OCTAVES = REUSE_BINS / REUSE_SUBS,
	SAMPLED_COLD = SAMPLED_OCTAVES,
	SAMPLED_INVALID,
	SAMPLED_GROUPS,
};

/* Own reuse times, or those among all threads. */
enum sampled_scope {
	SAMPLED_OWN,
	SAMPLED_GLOBAL,
	SAMPLED_SCOPES
};

/* Of a thread and scope. */
struct sampled_stratum {
	double sampled[SAMPLED_GROUPS]; /* accesses */
	double factor[SAMPLED_GROUPS];  /* of an access of a micro-trace */
	double even[SAMPLED_GROUPS]; /* share of all; no micro-trace has it */
	double distance[SAMPLED_GROUPS];
};

/* The group of a bin of reuse times, and a bin in the middle of a group. */
int sampled_group_of(uint32_t bin);
uint32_t sampled_bin_of(int group);

/*
 * Set factor and even; the factors are, so far, how many accesses those of the
 * micro-traces stand for, and the profile has @accesses. Uses after another
 * thread's store are in none of them.
 */
void sampled_find_factors(struct sampled_stratum *s, double accesses);

/*
 * Add the samples of lines of @thread in a scope, and set the distances; false
 * if there are none.
 */
bool sampled_take(struct sampled_stratum *s, const struct reuse_cells *cells,
		  int64_t thread, enum sampled_scope scope);

#endif
