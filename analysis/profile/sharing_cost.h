/* SPDX-License-Identifier: MIT */
/*
 * sharing_cost - what accesses to a line cost that two cores share
 *
 * record measures it on the machine of the recording and leaves it in the
 * output directory; report reads it to predict what padding saves. For each
 * kind of access: the time that it takes on a line of its own, as a share of
 * the time that it takes on a line that another thread stores to.
 */
#ifndef COMDET_ANALYSIS_PROFILE_SHARING_COST_H
#define COMDET_ANALYSIS_PROFILE_SHARING_COST_H

#include <stdbool.h>

#include "src/store/outdir.h"

#define SHARING_COST_FILE "sharing" OUTDIR_COST

enum cost_kind {
	COST_UPDATE, /* load and store: x++ */
	COST_STORE,
	COST_LOCKED, /* atomic */
	COST_LOAD,
	COST_KINDS
};

struct cost_ratio {
	double middle, low, high; /* median, quartiles of the repeats */
};

struct sharing_cost {
	double round_trip_ns; /* of a line between two cores */
	struct cost_ratio alone[COST_KINDS];
};

/*
 * Write to a new file of the directory @dirfd. Returns 0 or -errno.
 */
int sharing_cost_write(const struct sharing_cost *c, int dirfd);

/* False if the directory @path has none, or none that can be true. */
bool sharing_cost_read(struct sharing_cost *c, const char *path);

#endif
