/* SPDX-License-Identifier: MIT */
/*
 * transfer_patterns - programs for the simulated machine, one access at a time
 *
 * The first table has the patterns that the estimators were designed with, the
 * second has others. The table says what the number or the fraction of a
 * pattern means. A thread without work makes private accesses.
 */
#ifndef COMDET_TESTS_SRC_ENGINE_TRANSFER_PATTERNS_H
#define COMDET_TESTS_SRC_ENGINE_TRANSFER_PATTERNS_H

#include "transfer_sim.h"

#define PATTERN_SHARED 0x100000ull

static inline bool pattern_chance(struct tsim *s, double p)
{
	return (rng_next(&s->rng) >> 11) * 0x1p-53 < p;
}

static inline void pattern_word(struct access *a, uint64_t line, uint32_t word,
				uint32_t flags)
{
	a->addr = PATTERN_SHARED + line * TSIM_LINE + word * 8;
	a->flags = flags;
}

static inline void pattern_private(struct tsim *s, uint32_t thread,
				   struct access *a)
{
	a->addr = TSIM_PRIVATE + ((uint64_t)thread << 20) +
		  rng_below(&s->rng, 512) * 8;
	a->flags = rng_below(&s->rng, 3) ? ACCESS_LOAD : ACCESS_STORE;
}

static inline uint32_t pattern_popular(struct tsim *s, uint32_t objects)
{
	double x = (rng_next(&s->rng) >> 11) * 0x1p-53 *
		   s->popularity[objects - 1];
	uint32_t low = 0, high = objects - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (s->popularity[middle] < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A fraction of the accesses are stores to one word. */
static inline void pattern_write_volume(struct tsim *s, uint32_t thread,
					struct access *a)
{
	if (pattern_chance(s, s->fraction))
		pattern_word(a, 0, 0, ACCESS_STORE);
	else
		pattern_private(s, thread, a);
}

/* A fraction of the stores go to own words of lines of eight threads. */
static inline void pattern_false_sharing(struct tsim *s, uint32_t thread,
					 struct access *a)
{
	if (pattern_chance(s, s->fraction))
		pattern_word(a, 1 + thread / 8, thread % 8, ACCESS_STORE);
	else
		pattern_word(a, 0, 0, ACCESS_STORE);
}

/* Thread 0 stores; of the others' accesses a fraction are loads. */
static inline void pattern_read_write(struct tsim *s, uint32_t thread,
				      struct access *a)
{
	pattern_word(a, 0, 0,
		     thread && pattern_chance(s, s->fraction) ? ACCESS_LOAD
							      : ACCESS_STORE);
}

/* Pair p of n shares a word at the rate (p + 1) / n. */
static inline void pattern_pairs(struct tsim *s, uint32_t thread,
				 struct access *a)
{
	uint32_t pair = thread / 2;

	if (pattern_chance(s, (pair + 1.0) / (s->threads / 2)))
		pattern_word(a, pair, 0, ACCESS_STORE);
	else
		pattern_private(s, thread, a);
}

/* Eight lines change hands; a holder stores number times on end. */
static inline void pattern_bursts(struct tsim *s, uint32_t thread,
				  struct access *a)
{
	uint64_t *holder = s->shared, *left = s->shared + 8;
	uint32_t line;

	if (s->now == 0)
		for (line = 0; line < 8; line++) {
			holder[line] = rng_below(&s->rng, s->threads);
			left[line] = s->number;
		}
	for (line = 0; line < 8 && holder[line] != thread; line++)
		;
	if (line == 8 || rng_below(&s->rng, 10) >= 8) {
		pattern_private(s, thread, a);
		return;
	}
	pattern_word(a, line, rng_below(&s->rng, 8), ACCESS_STORE);
	if (--left[line] == 0) {
		uint64_t next = rng_below(&s->rng, s->threads - 1);

		holder[line] = next < thread ? next : next + 1;
		left[line] = s->number;
	}
}

/* Each pair of threads has a ring of 64 messages of one line. */
static inline void pattern_ring(struct tsim *s, uint32_t thread,
				struct access *a)
{
	enum {
		WORD,
		COUNT,
		SLOTS = 64
	};
	uint32_t pair = thread / 2, base = pair * (SLOTS + 2);
	uint32_t *me = s->state[thread], *other = s->state[thread ^ 1];

	if (rng_below(&s->rng, 4) == 0) {
		pattern_private(s, thread, a);
	} else if (thread % 2 == 0) {
		if (me[COUNT] - other[COUNT] >= SLOTS) {
			pattern_word(a, base + SLOTS + 1, 0, ACCESS_LOAD);
			return;
		}
		if (me[WORD] < 8) {
			pattern_word(a, base + me[COUNT] % SLOTS, me[WORD]++,
				     ACCESS_STORE);
			return;
		}
		me[WORD] = 0;
		me[COUNT]++;
		pattern_word(a, base + SLOTS, 0, ACCESS_STORE);
	} else {
		if (other[COUNT] == me[COUNT]) {
			pattern_word(a, base + SLOTS, 0, ACCESS_LOAD);
			return;
		}
		if (me[WORD] < 8) {
			pattern_word(a, base + me[COUNT] % SLOTS, me[WORD]++,
				     ACCESS_LOAD);
			return;
		}
		me[WORD] = 0;
		me[COUNT]++;
		pattern_word(a, base + SLOTS + 1, 0, ACCESS_STORE);
	}
}

/* Four spin locks, each with two lines of data. */
static inline void pattern_lock(struct tsim *s, uint32_t thread,
				struct access *a)
{
	enum {
		PHASE,
		LOCK,
		LEFT
	};
	uint32_t *me = s->state[thread];
	uint64_t *holder = &s->shared[me[LOCK]];

	switch (me[PHASE]) {
	case 0:
		pattern_private(s, thread, a);
		if (rng_below(&s->rng, 50) == 0) {
			me[PHASE] = 1;
			me[LOCK] = rng_below(&s->rng, 4);
		}
		break;
	case 1:
		pattern_word(a, me[LOCK] * 4, 0, ACCESS_LOAD);
		if (*holder)
			break;
		a->flags = ACCESS_STORE;
		*holder = 1;
		me[PHASE] = 2;
		me[LEFT] = 8;
		break;
	case 2:
		pattern_word(a, me[LOCK] * 4 + 1 + rng_below(&s->rng, 2),
			     rng_below(&s->rng, 4),
			     rng_below(&s->rng, 2) ? ACCESS_LOAD
						   : ACCESS_STORE);
		if (--me[LEFT] == 0)
			me[PHASE] = 3;
		break;
	default:
		pattern_word(a, me[LOCK] * 4, 0, ACCESS_STORE);
		*holder = 0;
		me[PHASE] = 0;
	}
}

/* Three accesses in ten go to number lines, two words of each. */
static inline void pattern_many_lines(struct tsim *s, uint32_t thread,
				      struct access *a)
{
	uint32_t line;

	if (rng_below(&s->rng, 10) >= 3) {
		pattern_private(s, thread, a);
		return;
	}
	line = rng_below(&s->rng, s->number);
	pattern_word(a, line, (line + rng_below(&s->rng, 2) * 4) % 8,
		     rng_below(&s->rng, 2) ? ACCESS_LOAD : ACCESS_STORE);
}

/* 64 lines, two words of each; a fraction of the accesses are stores. */
static inline void pattern_read_mostly(struct tsim *s, uint32_t thread,
				       struct access *a)
{
	pattern_word(a, rng_below(&s->rng, 64), rng_below(&s->rng, 2),
		     pattern_chance(s, s->fraction) ? ACCESS_STORE
						    : ACCESS_LOAD);
}

/* Each thread increments its own word of a line of eight. */
static inline void pattern_counters(struct tsim *s, uint32_t thread,
				    struct access *a)
{
	if (rng_below(&s->rng, 2))
		pattern_word(a, thread / 8, thread % 8, ACCESS_STORE);
	else
		pattern_private(s, thread, a);
}

/*
 * A seqlock: thread 0 updates four words of the line between two stores to the
 * count, then works; the others read the count, the words and the count.
 */
static inline void pattern_seqlock(struct tsim *s, uint32_t thread,
				   struct access *a)
{
	uint32_t *step = &s->state[thread][0];

	if (*step == 0 && !pattern_chance(s, s->fraction)) {
		pattern_private(s, thread, a);
		return;
	}
	pattern_word(a, 0, *step == 5 ? 0 : *step,
		     thread ? ACCESS_LOAD : ACCESS_STORE);
	*step = (*step + 1) % 6;
}

/*
 * Halo exchange: each thread sweeps its block of number lines, then reads the
 * first line of the next thread's block and the last of the one before.
 */
static inline void pattern_stencil(struct tsim *s, uint32_t thread,
				   struct access *a)
{
	uint32_t *at = &s->state[thread][0], words = s->number * 8;
	uint32_t next = (thread + 1) % s->threads;
	uint32_t before = (thread + s->threads - 1) % s->threads;

	if (*at < 2 * words)
		pattern_word(a, thread * s->number + *at / 16, *at / 2 % 8,
			     *at % 2 ? ACCESS_STORE : ACCESS_LOAD);
	else if (*at < 2 * words + 8)
		pattern_word(a, next * s->number, *at % 8, ACCESS_LOAD);
	else
		pattern_word(a, before * s->number + s->number - 1, *at % 8,
			     ACCESS_LOAD);
	*at = (*at + 1) % (2 * words + 16);
}

/*
 * Reference counted objects of unequal popularity: increment, read the
 * payload on the same line for a while, decrement.
 */
static inline void pattern_references(struct tsim *s, uint32_t thread,
				      struct access *a)
{
	enum {
		OBJECT,
		LEFT
	};
	uint32_t *me = s->state[thread];

	if (me[LEFT] == 0) {
		if (!pattern_chance(s, s->fraction)) {
			pattern_private(s, thread, a);
			return;
		}
		me[OBJECT] = pattern_popular(s, s->number);
		me[LEFT] = 2 + rng_below(&s->rng, 12);
		pattern_word(a, me[OBJECT], 0, ACCESS_LOAD | ACCESS_STORE);
	} else if (me[LEFT] > 1) {
		pattern_word(a, me[OBJECT], 1 + rng_below(&s->rng, 7),
			     ACCESS_LOAD);
	} else {
		pattern_word(a, me[OBJECT], 0, ACCESS_LOAD | ACCESS_STORE);
	}
	me[LEFT]--;
	if (me[LEFT] == 0)
		return;
}

/*
 * A queue of many producers and consumers: tickets are drawn from two words
 * of one line, slots are two to a line and hold a flag and three words.
 */
static inline void pattern_tickets(struct tsim *s, uint32_t thread,
				   struct access *a)
{
	enum {
		STEP,
		TICKET,
		SLOTS = 32
	};
	uint32_t *me = s->state[thread], half, line;
	uint64_t *taken = &s->shared[thread % 2];
	uint64_t *done = &s->shared[2 + thread % 2];

	if (me[STEP] == 0) {
		/* Producers may be 32 ahead of who consumes. */
		bool may = thread % 2 == 0
				   ? s->shared[0] < s->shared[3] + SLOTS / 2
				   : s->shared[1] < s->shared[2];

		if (!may || rng_below(&s->rng, 8) == 0) {
			pattern_private(s, thread, a);
			return;
		}
		me[TICKET] = (*taken)++;
		me[STEP] = 1;
		pattern_word(a, 0, thread % 2, ACCESS_LOAD | ACCESS_STORE);
		return;
	}
	line = 1 + me[TICKET] % SLOTS / 2;
	half = me[TICKET] % 2 * 4;
	if (me[STEP] < 4) {
		pattern_word(a, line, half + me[STEP],
			     thread % 2 ? ACCESS_LOAD : ACCESS_STORE);
		me[STEP]++;
	} else {
		pattern_word(a, line, half, ACCESS_STORE);
		(*done)++;
		me[STEP] = 0;
	}
}

/*
 * Records of 24 bytes, unaligned to lines, of which a thread updates 16 in one
 * store that may lie on two lines; neighbours in the array are other threads'.
 */
static inline void pattern_straddling(struct tsim *s, uint32_t thread,
				      struct access *a)
{
	uint32_t record;

	if (!pattern_chance(s, s->fraction)) {
		pattern_private(s, thread, a);
		return;
	}
	record = rng_below(&s->rng, 16) * s->threads + thread;
	a->addr = PATTERN_SHARED + record * 24;
	a->len = 16;
	a->flags = rng_below(&s->rng, 4) ? ACCESS_STORE : ACCESS_LOAD;
}

/*
 * Phases: all threads but one rest for number accesses of private work, then
 * hammer a line each with a random partner for as long, over and over.
 */
static inline void pattern_phases(struct tsim *s, uint32_t thread,
				  struct access *a)
{
	uint64_t phase = s->now / s->number;

	if (phase % 2 == 0) {
		pattern_private(s, thread, a);
		return;
	}
	pattern_word(a, ((thread + phase / 2) % s->threads) / 2,
		     rng_below(&s->rng, 2),
		     rng_below(&s->rng, 2) ? ACCESS_LOAD : ACCESS_STORE);
}

/*
 * Messages in fresh memory: a thread fills a line, another reads it, and the
 * line is used again only after number others.
 */
static inline void pattern_handoff(struct tsim *s, uint32_t thread,
				   struct access *a)
{
	enum {
		WORD,
		COUNT,
		AHEAD = 64
	};
	uint32_t *me = s->state[thread], *other = s->state[thread ^ 1];
	uint32_t line = thread / 2 * s->number + me[COUNT] % s->number;
	bool fills = thread % 2 == 0;

	if ((fills && me[COUNT] - other[COUNT] >= AHEAD) ||
	    (!fills && other[COUNT] == me[COUNT]) ||
	    rng_below(&s->rng, 4) == 0) {
		pattern_private(s, thread, a);
		return;
	}
	pattern_word(a, line, me[WORD], fills ? ACCESS_STORE : ACCESS_LOAD);
	me[WORD] = (me[WORD] + 1) % 8;
	me[COUNT] += me[WORD] == 0;
}

#define PATTERN_FRESH 0x800000000ull

/* A store to the next word of memory that nobody uses again. */
static inline void pattern_fresh(struct tsim *s, uint32_t thread,
				 struct access *a)
{
	a->addr = PATTERN_FRESH + ((uint64_t)thread << 28) +
		  s->fresh[thread]++ * 8;
	a->flags = ACCESS_STORE;
}

/*
 * A program that fills memory for a fraction of the run, which it then leaves
 * alone, and goes on as the pattern bursts.
 */
static inline void pattern_startup(struct tsim *s, uint32_t thread,
				   struct access *a)
{
	if (s->now == 0 || s->now >= s->fraction * s->steps)
		pattern_bursts(s, thread, a);
	else
		pattern_fresh(s, thread, a);
}

/* A fraction of the accesses fill memory, the others are Write-Volume's. */
static inline void pattern_streaming(struct tsim *s, uint32_t thread,
				     struct access *a)
{
	if (pattern_chance(s, s->fraction))
		pattern_fresh(s, thread, a);
	else if (rng_below(&s->rng, 4) == 0)
		pattern_word(a, 0, 0, ACCESS_STORE);
	else
		pattern_private(s, thread, a);
}

/* As bursts, but as long as it happens, number in the mean. */
static inline void pattern_bursts_varied(struct tsim *s, uint32_t thread,
					 struct access *a)
{
	uint64_t *left = s->shared + 8;

	pattern_bursts(s, thread, a);
	for (uint32_t line = 0; line < 8; line++)
		left[line] = rng_below(&s->rng, s->number) ? 2 : 1;
}

struct pattern_case {
	const char *name;
	tsim_pattern *pattern;
	uint32_t threads;
	double fraction;
	uint32_t number;
	uint32_t run; /* steps at a stretch */
};

#endif
