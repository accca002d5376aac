/* SPDX-License-Identifier: MIT */
/*
 * tally - detections summed by thread pair, line, site and object
 *
 * Every sum saturates. A detection whose line or instruction the file did not
 * keep (line 0, instruction 0) is in the totals and the cells, and counts as
 * unplaced.
 */
#ifndef COMDET_ANALYSIS_ATTRIBUTION_TALLY_H
#define COMDET_ANALYSIS_ATTRIBUTION_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/profile/profile.h"
#include "analysis/symbols/symbols.h"

#define NO_SITE UINT32_MAX

/* Detections of which is known whether padding avoids them, and that it does.
 */
struct judged {
	uint64_t all, avoidable;
};

/* Two rows of threads, or two cores. a <= b; they are equal in a merged row. */
struct cell {
	uint32_t a, b;
	uint64_t kind[SHARING_KINDS];
	uint64_t a_to_b, b_to_a; /* stored by a, met by b, and the reverse */
	uint64_t traps;
	struct judged judged;
};

struct line_tally {
	uint32_t process;
	uint64_t line;
	uint64_t kind[SHARING_KINDS];
	struct judged judged;
	struct object object; /* at the address with most detections */
	size_t first, pairs;  /* its part of tally.by_line */
};

struct site_tally {
	struct place place;
	uint64_t kind[SHARING_KINDS];
	uint32_t flags; /* ACCESS_* of all accesses there */
};

struct object_tally {
	struct object object;
	uint32_t process;
	size_t lines;
	uint64_t kind[SHARING_KINDS];
};

struct tally {
	const struct profile *profile;
	uint64_t kind[SHARING_KINDS], by[DETECTED_BY_KINDS];
	uint64_t unplaced[SHARING_KINDS];
	struct judged judged;
	double periods; /* volume, in sampling periods */

	struct cell *cell; /* ordered by a, b */
	size_t cells;
	struct cell *core; /* the same for cores */
	size_t cores;
	struct line_tally *line; /* most detections first */
	size_t lines;
	struct site_tally *site; /* most detections first */
	size_t sites;
	struct object_tally *object; /* most detections first */
	size_t objects;

	uint32_t *by_line; /* pairs taken, ordered by process and line */
	size_t taken;
	uint32_t *publisher_site; /* by pair, or NO_SITE */
	uint32_t *detector_site;
	uint64_t *thread_detections; /* by row, in which it took part */
};

/*
 * Sum the detections of @p. With @thread >= 0, sum those that this row took
 * part in, and leave the cores out, since their threads are not known.
 */
void tally_init(struct tally *t, const struct profile *p, struct symbols *s,
		int64_t thread);
void tally_release(struct tally *t);

static inline uint64_t tally_total(const uint64_t kind[SHARING_KINDS])
{
	return kind[SHARING_TRUE] + kind[SHARING_FALSE] < kind[SHARING_TRUE]
		       ? UINT64_MAX
		       : kind[SHARING_TRUE] + kind[SHARING_FALSE];
}

#endif
