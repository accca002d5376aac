/* SPDX-License-Identifier: MIT */
/*
 * over_time - when during a run which threads shared
 *
 * The slices of time of all processes, of whatever length, added up in at most
 * OVER_TIME_SLICES of one length. They lie side by side on CLOCK_MONOTONIC of
 * the first process. Processes of other machines are placed by CLOCK_REALTIME,
 * to a slice.
 */
#ifndef COMDET_ANALYSIS_ATTRIBUTION_OVER_TIME_H
#define COMDET_ANALYSIS_ATTRIBUTION_OVER_TIME_H

#include "tally.h"

enum {
	OVER_TIME_SLICES = 64,
	OVER_TIME_CELLS = 256, /* pairs that are kept apart */
};

/* Detections between two rows of threads in each slice, by weight. a <= b. */
struct time_cell {
	uint32_t a, b;
	uint64_t total;
	uint64_t kind[SHARING_KINDS][OVER_TIME_SLICES];
};

struct over_time {
	uint32_t slices; /* 0: the files tell nothing */
	uint64_t slice_ns;
	uint64_t begin_ns; /* of the first slice, a multiple of slice_ns */
	uint64_t start_ns, end_ns; /* of the run, in the first and last slice */
	uint64_t first_ns, last_ns; /* what lies beyond is left out */
	uint64_t samples[OVER_TIME_SLICES];
	struct time_cell all;   /* of all pairs; a and b are 0 */
	struct time_cell *cell; /* busiest first, OVER_TIME_CELLS at most */
	size_t cells, pairs;    /* kept, found */
	uint64_t outside;       /* detections of the tally that are in none */
	/*
	 * All detections, or those of a busy pair, are spread unevenly: not by
	 * chance, and by more than a third of their mean (standard deviation).
	 */
	bool uneven;
	bool judged; /* there are detections enough to say so of all */
};

/* With @thread >= 0, of the pairs of that row, as @t is. */
void over_time_init(struct over_time *o, const struct tally *t, int64_t thread);
void over_time_release(struct over_time *o);

static inline uint64_t time_cell_at(const struct time_cell *c, uint32_t slice)
{
	return c->kind[SHARING_TRUE][slice] + c->kind[SHARING_FALSE][slice];
}

#endif
