/* SPDX-License-Identifier: MIT */
/*
 * cycle_queue - a queue of a core whose entries leave in any order
 *
 * As time_queue.h for times of asking that never fall, with the same answers.
 * It has a free entry once fewer than all its entries leave later. That cycle
 * never falls, and pushes alone move it: to the next one in which some leave,
 * which has a bit and their number. So asking is a comparison.
 */
#ifndef COMDET_ANALYSIS_PREDICT_CYCLE_QUEUE_H
#define COMDET_ANALYSIS_PREDICT_CYCLE_QUEUE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/util.h"

enum {
	CYCLE_QUEUE_NEAR = 1024, /* cycles with a bit; a power of two */
	CYCLE_QUEUE_WORDS = CYCLE_QUEUE_NEAR / 64,
};

struct cycle_queue {
	uint32_t entries;
	uint32_t in;   /* entries that leave after @open; fewer than all */
	uint64_t open; /* from then on there is a free entry */
	uint64_t word[CYCLE_QUEUE_WORDS];
	uint16_t count[CYCLE_QUEUE_NEAR]; /* how many leave in the cycle */
	uint32_t far; /* entries that do not leave in the next cycles: */
	uint64_t *later, soonest;
};

static inline void cycle_queue_init(struct cycle_queue *q, uint32_t entries)
{
	memset(q, 0, sizeof(*q));
	q->entries = entries;
	q->later = xcalloc(entries + 1, sizeof(*q->later));
}

static inline void cycle_queue_release(struct cycle_queue *q)
{
	free(q->later);
}

/* Without entries, from @now on. */
static inline void cycle_queue_empty(struct cycle_queue *q, uint64_t now)
{
	memset(q->word, 0, sizeof(q->word));
	memset(q->count, 0, sizeof(q->count));
	q->in = q->far = 0;
	q->open = now;
}

/* An entry leaves at @t, after q->open. */
static inline void cycle_queue_add(struct cycle_queue *q, uint64_t t)
{
	if (t - q->open >= CYCLE_QUEUE_NEAR) {
		if (!q->far || t < q->soonest)
			q->soonest = t;
		q->later[q->far++] = t;
		return;
	}
	q->count[t % CYCLE_QUEUE_NEAR]++;
	q->word[t / 64 % CYCLE_QUEUE_WORDS] |= UINT64_C(1) << t % 64;
}

/* Some of those that leave later now leave in the next cycles. */
static inline void cycle_queue_come_near(struct cycle_queue *q)
{
	uint32_t n = q->far;

	q->far = 0;
	for (uint32_t i = 0; i < n; i++)
		cycle_queue_add(q, q->later[i]);
}

/* The first of the next cycles in which one leaves; there is one. */
static inline uint64_t cycle_queue_next(const struct cycle_queue *q)
{
	uint64_t c = q->open + 1, bits;

	bits = q->word[c / 64 % CYCLE_QUEUE_WORDS] & ~UINT64_C(0) << c % 64;
	while (!bits) {
		c = (c | 63) + 1;
		bits = q->word[c / 64 % CYCLE_QUEUE_WORDS];
	}
	return (c & ~UINT64_C(63)) + (uint64_t)__builtin_ctzll(bits);
}

/* All entries are taken: the first that leave make room. */
static inline void cycle_queue_leave(struct cycle_queue *q)
{
	uint16_t *n;

	if (q->far == q->in) {
		q->open = q->soonest - 1;
		cycle_queue_come_near(q);
	}
	q->open = cycle_queue_next(q);
	n = &q->count[q->open % CYCLE_QUEUE_NEAR];
	q->in -= *n;
	*n = 0;
	q->word[q->open / 64 % CYCLE_QUEUE_WORDS] &=
		~(UINT64_C(1) << q->open % 64);
	if (q->far && q->soonest - q->open < CYCLE_QUEUE_NEAR)
		cycle_queue_come_near(q);
}

/* The entry that was entered last leaves at @t, after it was entered. */
static inline void cycle_queue_push(struct cycle_queue *q, uint64_t t)
{
	cycle_queue_add(q, t);
	if (++q->in == q->entries)
		cycle_queue_leave(q);
}

/*
 * The first time, not before @t, at which the queue has a free entry. That
 * entry is taken: push when it becomes free, before another one is entered.
 */
static inline uint64_t cycle_queue_enter(const struct cycle_queue *q,
					 uint64_t t)
{
	return t > q->open ? t : q->open;
}

#endif
