/* SPDX-License-Identifier: MIT */
/*
 * estimate - the transfers that a profile's estimator made of its samples
 *
 * Threads are numbered as in their process, by their start. A file may hold
 * anything: what is no number reads as 0.
 */
#ifndef COMDET_ANALYSIS_PROFILE_ESTIMATE_H
#define COMDET_ANALYSIS_PROFILE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"
#include "src/engine/transfer_tally.h"

struct estimate_cell {
	uint32_t process; /* index */
	uint32_t a, b;
	struct transfer_cell cell;
};

/*
 * Of all processes that have estimates. The variance of a sum over processes
 * is that of one counter's at most, so its interval is rather too wide.
 */
struct estimate {
	const struct process *process;     /* the one with most transfers */
	struct transfer_sampling sampling; /* what the intervals cover */
	struct transfer_cell total;
	struct estimate_cell *cell; /* most transfers first */
	size_t cells;
};

/*
 * The record of the kind, a and b in @s that counts, the last; NULL if there
 * is none.
 */
const struct cdp_transfer *estimate_record(const struct process *s,
					   uint32_t kind, uint32_t a,
					   uint32_t b);

/* False if @p has no estimates; then @e is empty. */
bool estimate_load(struct estimate *e, const struct profile *p);
void estimate_release(struct estimate *e);

#endif
