/* SPDX-License-Identifier: MIT */
/*
 * time_heap - times at which entries of a queue become free
 *
 * A queue of a processor with a number of entries: each holds the time at which
 * its entry is free again. The smallest is first.
 */
#ifndef COMDET_ANALYSIS_MODEL_TIME_HEAP_H
#define COMDET_ANALYSIS_MODEL_TIME_HEAP_H

#include <stdint.h>

struct time_heap {
	uint64_t *at; /* room for one more than the entries */
	uint32_t n, entries;
};

static inline void time_heap_push(struct time_heap *h, uint64_t t)
{
	uint32_t i = h->n++;

	while (i && h->at[(i - 1) / 2] > t) {
		h->at[i] = h->at[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->at[i] = t;
}

static inline uint64_t time_heap_pop(struct time_heap *h)
{
	uint64_t first = h->at[0], last = h->at[--h->n];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && h->at[child + 1] < h->at[child])
			child++;
		if (h->at[child] >= last)
			break;
		h->at[i] = h->at[child];
		i = child;
	}
	h->at[i] = last;
	return first;
}

/*
 * The first time, not before @t, at which the queue has a free entry. That
 * entry is taken: push when it becomes free.
 */
static inline uint64_t time_heap_enter(struct time_heap *h, uint64_t t)
{
	while (h->n && h->at[0] <= t)
		time_heap_pop(h);
	if (h->n < h->entries)
		return t;
	return time_heap_pop(h);
}

#endif
