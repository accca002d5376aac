/* SPDX-License-Identifier: MIT */
/*
 * estimate - read the transfers that an estimator counted from its samples
 *
 * Threads are numbered within their process, by their start. A file may hold
 * anything: what is not a number reads as 0.
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
 * Sums over all processes that have estimates. The variance of such a sum is
 * taken as that of a single counter, which is at least as large, so the
 * interval is rather too wide.
 */
struct estimate {
	const struct process *process;     /* the one with most transfers */
	struct transfer_sampling sampling; /* what the intervals cover */
	struct transfer_cell total;
	/*
	 * How many transfers the estimate may have missed, beyond the error of
	 * sampling: those of lines that it could not follow. And the low limit
	 * of that number, which may come from a few samples.
	 */
	double missed, missed_least;
	struct estimate_cell *cell; /* most transfers first */
	size_t cells;
	/*
	 * The share of the transfers that padding avoids; below 0: the
	 * recording does not tell. It is avoidable_judged, and of what is false
	 * sharing on lines that no log tells about, the part that brings
	 * nothing needed. If the recording does not tell that part, none of it
	 * may be avoidable, or all: half counts.
	 */
	double avoidable, avoidable_judged, avoidable_most;
	bool knows_needed;
	struct transfer_moment needed; /* on lines without a log, transfers */
};

/*
 * The last record in @s of that kind, a and b, which is the one that counts;
 * NULL if there is none.
 */
const struct cdp_transfer *estimate_record(const struct process *s,
					   uint32_t kind, uint32_t a,
					   uint32_t b);

/*
 * True if estimates with header @h come from debug registers whose traps change
 * the program's timing.
 */
bool estimate_has_traps(const struct cdp_header *h);

/* False if @p has no estimates; then @e is empty. */
bool estimate_load(struct estimate *e, const struct profile *p);
void estimate_release(struct estimate *e);

enum {
	ESTIMATE_FEW_SAMPLES = 30,
};

/*
 * True if fewer than ESTIMATE_FEW_SAMPLES samples tell of transfers, or if few
 * of them stand for so many that the interval of the number is one and a half
 * times as wide as the number.
 */
bool estimate_is_weak(const struct estimate *e);

/*
 * The interval of @m, one of the moments of @e: of sampling, and above that
 * what may have been missed. Then that of a share of all transfers, whose
 * interval of sampling is @v.
 */
struct interval estimate_interval(const struct estimate *e,
				  const struct transfer_moment *m);
struct interval estimate_share_interval(const struct estimate *e,
					struct interval v);

/*
 * The interval of the share that padding avoids. Context: e->avoidable is not
 * below 0.
 */
struct interval estimate_avoidable_interval(const struct estimate *e);

#endif
