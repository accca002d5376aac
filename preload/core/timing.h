/* SPDX-License-Identifier: MIT */
/*
 * timing - the clocks that the library reads
 */
#ifndef COMDET_PRELOAD_CORE_TIMING_H
#define COMDET_PRELOAD_CORE_TIMING_H

#include <stdbool.h>
#include <stdint.h>

/* CLOCK_MONOTONIC, ns. Any context. */
uint64_t now_ns(void);

/* CPU time of the calling thread, ns. Any context. */
uint64_t thread_cpu_ns(void);

enum {
	RECKONED_MAX = 15, /* times in a row */
	READ_AFTER_SLOW = 64,
};

/*
 * When the handler began, in CPU time of the thread. To read it is a system
 * call, which with cold caches takes a tenth of a short handler. An interrupt
 * of a clock says how much has passed since the last one: most begins are
 * reckoned.
 */
struct cpu_begin {
	uint64_t at;      /* ns; never later than it was */
	uint64_t clock;   /* the same, at the last interrupt of the clock */
	uint8_t reckoned; /* times in a row; 0: @at was read */
	uint8_t read;     /* times that it is to be read: a handler was slow */
};

/*
 * Reckon @b for an interrupt of the clock, @passed ns after the last one; 0:
 * unknown. Returns false if it must be read instead.
 */
static inline bool cpu_begin_reckon(struct cpu_begin *b, uint64_t passed)
{
	if (!passed || !b->clock || b->read || b->reckoned == RECKONED_MAX)
		return false;
	b->clock += passed;
	if (b->at < b->clock)
		b->at = b->clock;
	b->reckoned++;
	return true;
}

/* The handler took longer than its share: was that CPU time? */
static inline void cpu_begin_was_slow(struct cpu_begin *b)
{
	b->read = READ_AFTER_SLOW;
}

/* It was read, at an interrupt of the clock or at another signal. */
static inline void cpu_begin_set(struct cpu_begin *b, uint64_t now, bool clock)
{
	b->at = now;
	b->reckoned = 0;
	b->read -= b->read > 0;
	if (clock)
		b->clock = now;
}

#endif
