/* SPDX-License-Identifier: MIT */
/*
 * cure - how to split a cache line so that threads pass fewer lines on
 *
 * A transfer is avoidable if it ends when the bytes of the line are spread over
 * several lines. What that would have saved is replayed from a log of the line
 * (line_log.h). Bytes that threads use together belong together: apart, a
 * thread would fetch two lines. So this looks for the groups of bytes with
 * fewest transfers in all:
 *
 * - Bytes that are in the same turns are one atom.
 * - At first each atom is a group.
 * - While the sum of transfers falls, the two groups whose union saves most are
 *   united.
 *
 * The avoidable share is 1 - sum over groups / transfers of the whole line.
 */
#ifndef COMDET_EXACT_CURE_H
#define COMDET_EXACT_CURE_H

#include <stdint.h>

#include "line_log.h"

enum {
	CURE_GROUPS_MAX = 16
};

struct cure {
	uint64_t turns; /* in the log */
	/* Of the line. All transfers here have a unit of their own. */
	uint64_t transfers;
	uint64_t after; /* with a line for each group; at most transfers */
	/*
	 * One group if splitting saves nothing. Bytes that nobody touched in
	 * the log are in none.
	 */
	uint32_t groups;
	uint64_t bytes[CURE_GROUPS_MAX];
	uint64_t group_transfers[CURE_GROUPS_MAX];
};

/* Context: any; takes milliseconds at most. The log must not change. */
void cure_find(const struct line_log *log, struct cure *cure);

/* Of @all transfers of the line, those that the cure avoids. */
uint64_t cure_avoids(const struct cure *cure, uint64_t all);

/* Transfers in the log of a line that has only @bytes. */
uint64_t cure_transfers(const struct line_log *log, uint64_t bytes);

#endif
