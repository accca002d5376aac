/* SPDX-License-Identifier: MIT */
/*
 * seldom - lines that threads share too seldom for samples to meet
 *
 * The sightings of a profile (src/engine/looks.h), by line and thread. Lines
 * with detections are left out: the map has them.
 */
#ifndef COMDET_ANALYSIS_ATTRIBUTION_SELDOM_H
#define COMDET_ANALYSIS_ATTRIBUTION_SELDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally.h"

/* What a thread does with the line. */
struct seldom_thread {
	uint32_t thread;              /* row */
	uint32_t flags;               /* ACCESS_* that were seen */
	uint64_t sighted;             /* looks that had an access to the line */
	uint64_t first; /* how many it had looked at the first of them */
	bool merged;    /* of several threads: first is not known */
	uint64_t looks;               /* of the thread, at least as many */
	double accesses;              /* in a look, on average */
	const struct pair_row *most;  /* of its sightings; NULL: only its stores
					 were met */
	const struct pair_row *store; /* that was met most often; NULL: none */
	uint64_t meets, stored;       /* of these two */
};

struct seldom_line {
	uint32_t process;
	uint64_t line;
	struct object object;
	uint64_t meetings;
	uint64_t kind[SHARING_KINDS]; /* meetings */
	size_t first, threads;        /* its part of seldom.thread */
};

struct seldom {
	struct seldom_line *line; /* most meetings first */
	size_t lines;
	struct seldom_thread *thread;
	size_t threads;
};

/* @t: the detections of the same profile, and thread (tally_init). */
void seldom_init(struct seldom *s, const struct tally *t,
		 struct symbols *symbols, int64_t thread);
void seldom_release(struct seldom *s);

/*
 * Which share of the thread's accesses go to the line: at most one of a look is
 * counted. Sightings begin when the line is known to be shared, so the looks
 * after the first one count, and what was sighted in them. 95 % interval in @v.
 * NaN and 0 to 1 if there were no such looks.
 */
double seldom_share(const struct seldom_thread *t, struct interval *v);

#endif
