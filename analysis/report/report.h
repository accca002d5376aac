/* SPDX-License-Identifier: MIT */
/*
 * report - what is reported, and how
 */
#ifndef COMDET_ANALYSIS_REPORT_REPORT_H
#define COMDET_ANALYSIS_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/attribution/tally.h"
#include "analysis/profile/profile.h"
#include "analysis/symbols/symbols.h"

struct report_reuse;

struct report {
	const struct profile *profile;
	struct symbols *symbols;
	struct tally tally;
	const struct report_reuse *reuse; /* reuse.h */
	FILE *out;
	size_t top;         /* rows of a table at most */
	size_t thread_rows; /* the same of the table of threads */
	int64_t thread;     /* row asked for, -1: all */
	bool colour;
};

#endif
