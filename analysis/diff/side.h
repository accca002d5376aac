/* SPDX-License-Identifier: MIT */
/*
 * side - the runs before a change, or after it, as counts by quantity and place
 *
 * Context: analysis.
 */
#ifndef COMDET_ANALYSIS_DIFF_SIDE_H
#define COMDET_ANALYSIS_DIFF_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compare.h"

/*
 * Detections in samples; or transfers in accesses, where an estimator counted
 * them: then an event is as many transfers as make the estimate's relative
 * error that of a Poisson count.
 */
enum quantity {
	QUANTITY_ALL,
	QUANTITY_FALSE,
	QUANTITY_TRUE,
	QUANTITY_AVOIDABLE, /* padding would avoid it; exposure 0: not judged */
	QUANTITIES
};

/* Where it happens, by a name that outlives a rebuild. */
enum place_kind {
	PLACE_VARIABLE,
	PLACE_FUNCTION,
	PLACE_KINDS
};

struct place_count {
	char *name; /* any bytes */
	enum place_kind kind;
	double detections;
};

struct run {
	char *dir;
	char source[16], algorithm[16], unit[16];
	uint64_t period;
	uint32_t registers;
	bool transfers; /* what the quantities are */
	double samples; /* at the full rate */
	double design;  /* tally_design */
	double cpu_s, wall_s;
	struct run_count count[QUANTITIES], detected[QUANTITIES];
	struct place_count *place; /* by kind and name, each once */
	size_t places;
};

struct side {
	struct run *run;
	size_t runs, room;
};

/*
 * Load the profile @dir as one more run of @s. Dies if it cannot be read or has
 * nothing to compare. Without @symbols places are modules and offsets.
 */
void side_add(struct side *s, const char *dir, bool symbols);
void side_release(struct side *s);

/* Detections at @name in @r as a count in its samples; 0 where it has none. */
struct run_count run_place(const struct run *r, enum place_kind kind,
			   const char *name);

/* Compare detections, since not all runs have transfers. */
void side_use_detections(struct side *s);

#endif
