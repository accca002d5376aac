/* SPDX-License-Identifier: MIT */
/*
 * exact_tally - the records of counted transfers, sorted and added up
 */
#ifndef COMDET_ANALYSIS_REPORT_EXACT_TALLY_H
#define COMDET_ANALYSIS_REPORT_EXACT_TALLY_H

#include "analysis/profile/profile.h"

/* A record, and the number of its process. */
struct found {
	uint32_t process;
	const struct cdp_transfer *record;
};

struct exact_tally {
	struct found *cell, *line, *thread, *miss; /* lines and cells by size */
	size_t cells, lines, threads, misses;
	struct found *avoidable, *group; /* by process and address */
	size_t avoidables, groups;
	uint64_t transfers, false_sharing;
	/* Only with avoidables: older recordings have none. */
	uint64_t useless, avoids;
};

/* Returns false, and nothing to release, if there are no such records. */
bool exact_tally(struct exact_tally *t, const struct profile *p);

void exact_tally_release(struct exact_tally *t);

/* What padding would avoid on the line of @f, or NULL if it is not known. */
const struct cdp_transfer *exact_tally_avoidable(const struct exact_tally *t,
						 const struct found *f);

/* The groups of bytes of that line; *@n of them in the order of numbers. */
const struct found *exact_tally_groups(const struct exact_tally *t,
				       const struct cdp_transfer *avoidable,
				       uint32_t process, size_t *n);

#endif
