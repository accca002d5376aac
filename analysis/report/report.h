/* SPDX-License-Identifier: MIT */
/*
 * report - what a report is about, and how it is printed
 */
#ifndef COMDET_ANALYSIS_REPORT_REPORT_H
#define COMDET_ANALYSIS_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/attribution/tally.h"
#include "analysis/profile/profile.h"
#include "analysis/profile/sharing_cost.h"
#include "analysis/symbols/symbols.h"

struct report_reuse;
struct sighted; /* analysis/attribution/sighted.h */

struct report {
	const struct profile *profile;
	struct symbols *symbols;
	struct tally tally;
	const struct report_reuse *reuse; /* reuse.h */
	const struct sighted *sighted;    /* NULL: not asked for */
	const struct sharing_cost *cost;  /* NULL: not measured */
	FILE *out;
	size_t top;         /* most rows of a table */
	size_t thread_rows; /* most rows of the table of threads */
	int64_t thread;     /* the row asked for; -1: all */
	bool colour;
	bool strips; /* draw sharing over time in any case */
};

#endif
