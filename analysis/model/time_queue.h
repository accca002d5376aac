/* SPDX-License-Identifier: MIT */
/*
 * time_queue - times at which entries of a queue become free
 *
 * A queue of a processor with a number of entries: each holds the time at which
 * its entry is free again, the earliest first. Times come nearly in order, so
 * a new one moves few others.
 */
#ifndef COMDET_ANALYSIS_MODEL_TIME_QUEUE_H
#define COMDET_ANALYSIS_MODEL_TIME_QUEUE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/util.h"

struct time_queue {
	uint64_t *at; /* room for twice the entries, and one more */
	uint32_t first, end, entries;
};

static inline void time_queue_init(struct time_queue *q, uint32_t entries)
{
	*q = (struct time_queue){ .entries = entries };
	q->at = xcalloc(2 * (size_t)entries + 1, sizeof(*q->at));
}

static inline void time_queue_release(struct time_queue *q)
{
	free(q->at);
}

static inline void time_queue_empty(struct time_queue *q)
{
	q->first = q->end = 0;
}

static inline void time_queue_push(struct time_queue *q, uint64_t t)
{
	uint32_t i;

	if (q->end == 2 * q->entries + 1) {
		q->end -= q->first;
		memmove(q->at, q->at + q->first, q->end * sizeof(*q->at));
		q->first = 0;
	}
	for (i = q->end++; i > q->first && q->at[i - 1] > t; i--)
		q->at[i] = q->at[i - 1];
	q->at[i] = t;
}

/*
 * The first time, not before @t, at which the queue has a free entry. That
 * entry is taken: push when it becomes free.
 */
static inline uint64_t time_queue_enter(struct time_queue *q, uint64_t t)
{
	while (q->first < q->end && q->at[q->first] <= t)
		q->first++;
	if (q->end - q->first < q->entries)
		return t;
	return q->at[q->first++];
}

#endif
