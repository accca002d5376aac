/* SPDX-License-Identifier: MIT */
/*
 * diff - what changed between two sides
 *
 * Context: analysis.
 */
#ifndef COMDET_ANALYSIS_DIFF_DIFF_H
#define COMDET_ANALYSIS_DIFF_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "side.h"

struct diff_row {
	const char *name; /* owned by a run */
	struct comparison c;
	double detections; /* on both sides */
};

struct diff {
	const struct side *before, *after;
	bool transfers; /* what the quantities are; else detections */
	struct comparison quantity[QUANTITIES];
	struct comparison cpu_s;
	struct diff_row *place[PLACE_KINDS]; /* most detections first */
	size_t places[PLACE_KINDS];
};

/*
 * Compare all that the sides have; both outlive @d. A table of places takes the
 * chance of one interval to miss, 5 %, for all its rows together (Bonferroni).
 */
void diff_init(struct diff *d, struct side *before, struct side *after);
void diff_release(struct diff *d);

/*
 * Why detections of the sides do not compare, in words for the user, or NULL:
 * they have different sources, algorithms or numbers of registers. The caller
 * frees it.
 */
char *diff_unlike(const struct side *before, const struct side *after);

/*
 * The share of @q in all sharing of a side; NAN, and 0 to 1, where nothing was
 * found or judged.
 */
double diff_share(const struct side *s, enum quantity q, struct interval *by);

#endif
