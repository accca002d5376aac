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
#include "src/base/interval.h"

#define NO_SITE UINT32_MAX

/*
 * Detections of which is known whether padding avoids them, and that it does.
 * guessed: of the total, how many of these were judged when little was known of
 * the line.
 */
struct judged {
	uint64_t all, avoidable, guessed;
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
	/*
	 * Of a site in a library: the user's call that leads to it most often,
	 * and in how many of the detections with call paths it does. 0: none.
	 */
	struct place caller;
	uint64_t called;
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
	double design;  /* tally_design */
	double heaviest; /* tally_heaviest */

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

/* Find the callers of the sites; tally_init does. */
void tally_callers(struct tally *t, struct symbols *s);

/*
 * The 95 % interval of the share that padding avoids. A judgement knows the
 * stores that were seen before it. So the first one of a thread at a place of a
 * line may be wrong, and the low limit counts none of these.
 */
struct interval tally_avoidable_share(const struct tally *t);

/*
 * Sum of squared weights / sum of weights, of the kind of sharing for which it
 * is larger: that one has few detections of much weight. 1 if all weigh 1.
 * Threads keep the squares of weights, pairs do not.
 */
double tally_design(const struct profile *p);

/*
 * What a detection may weigh: as many as the slow rate's samples stand for, if
 * there were some. 1 if the rate was fixed.
 */
double tally_heaviest(const struct profile *p);

/*
 * The intervals of a sum of weights, and of a share of such sums: as many
 * detections of equal weight would have them (interval_effective). Of none, no
 * weight is known: the high limit takes all as the heaviest.
 */
struct interval tally_count_interval(const struct tally *t, uint64_t count);
struct interval tally_share_interval(const struct tally *t, uint64_t part,
				     uint64_t whole);

/* As many detections of equal weight are as certain as the sum @count. */
static inline double tally_effective(const struct tally *t, uint64_t count)
{
	return (double)count / t->design;
}

static inline uint64_t tally_total(const uint64_t kind[SHARING_KINDS])
{
	return kind[SHARING_TRUE] + kind[SHARING_FALSE] < kind[SHARING_TRUE]
		       ? UINT64_MAX
		       : kind[SHARING_TRUE] + kind[SHARING_FALSE];
}

#endif
