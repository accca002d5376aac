/* SPDX-License-Identifier: MIT */
/*
 * cycle_queue - a queue of a core whose entries leave in any order
 *
 * As time_queue.h for times of asking that never fall, with the same answers. A
 * bit for each of the next cycles says that entries leave in it, so their order
 * costs nothing: those that wait for misses leave long after younger ones.
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
	uint32_t entries, near, far; /* room, and how many leave when */
	uint64_t now;                /* the latest time of asking */
	uint64_t word[CYCLE_QUEUE_WORDS];
	uint8_t count[CYCLE_QUEUE_NEAR]; /* how many leave in the cycle */
	uint64_t *later;  /* when the others do: not in the next cycles */
	uint64_t soonest; /* of these */
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
	q->near = q->far = 0;
	q->now = now;
}

/* An entry, for which there is room, leaves at @t, after the latest asking. */
static inline void cycle_queue_push(struct cycle_queue *q, uint64_t t)
{
	if (t - q->now >= CYCLE_QUEUE_NEAR) {
		if (!q->far || t < q->soonest)
			q->soonest = t;
		q->later[q->far++] = t;
		return;
	}
	q->count[t % CYCLE_QUEUE_NEAR]++;
	q->word[t / 64 % CYCLE_QUEUE_WORDS] |= UINT64_C(1) << t % 64;
	q->near++;
}

/* Some of those that leave later now leave in the next cycles. */
static inline void cycle_queue_come_near(struct cycle_queue *q)
{
	uint32_t n = q->far;

	q->far = 0;
	for (uint32_t i = 0; i < n; i++)
		if (q->later[i] > q->now)
			cycle_queue_push(q, q->later[i]);
}

/* All leave that do so up to @t. */
static inline void cycle_queue_leave(struct cycle_queue *q, uint64_t t)
{
	for (uint64_t c = q->now + 1; c <= t && q->near; c = (c | 63) + 1) {
		uint64_t *word = &q->word[c / 64 % CYCLE_QUEUE_WORDS];
		uint64_t bits = *word & ~UINT64_C(0) << c % 64;

		if ((c | 63) > t)
			bits &= ~UINT64_C(0) >> (63 - t % 64);
		*word &= ~bits;
		for (; bits; bits &= bits - 1) {
			uint64_t at = (c & ~UINT64_C(63)) +
				      (uint64_t)__builtin_ctzll(bits);

			q->near -= q->count[at % CYCLE_QUEUE_NEAR];
			q->count[at % CYCLE_QUEUE_NEAR] = 0;
		}
	}
	q->now = t;
	if (q->far && q->soonest < t + CYCLE_QUEUE_NEAR)
		cycle_queue_come_near(q);
}

/* The first of the next cycles in which one leaves; there is one. */
static inline uint64_t cycle_queue_next(const struct cycle_queue *q)
{
	uint64_t c = q->now + 1, bits;

	bits = q->word[c / 64 % CYCLE_QUEUE_WORDS] & ~UINT64_C(0) << c % 64;
	while (!bits) {
		c = (c | 63) + 1;
		bits = q->word[c / 64 % CYCLE_QUEUE_WORDS];
	}
	return (c & ~UINT64_C(63)) + (uint64_t)__builtin_ctzll(bits);
}

/*
 * The first time, not before @t, at which the queue has a free entry. That
 * entry is taken: push when it becomes free.
 */
static inline uint64_t cycle_queue_enter(struct cycle_queue *q, uint64_t t)
{
	cycle_queue_leave(q, t);
	if (q->near + q->far < q->entries)
		return t;
	if (!q->near)
		cycle_queue_leave(q, q->soonest - 1);
	t = cycle_queue_next(q);
	q->near--;
	if (!--q->count[t % CYCLE_QUEUE_NEAR])
		q->word[t / 64 % CYCLE_QUEUE_WORDS] &= ~(UINT64_C(1) << t % 64);
	return t;
}

#endif
