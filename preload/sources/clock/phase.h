/* SPDX-License-Identifier: MIT */
/*
 * phase - which interrupts of a young thread are samples
 *
 * The event that a thread inherits interrupts it after each period P of its CPU
 * time: at P, 2P, 3P. Threads that end before P would never be sampled, and
 * one that ends after T gets floor(T / P) samples, not T / P. So a young thread
 * has a second event of its own, which comes at F, F + P, F + 2P, where F is
 * uniform in (0, P]. Its number of interrupts before any T is T / P on average.
 * While it is there, the interrupts at P, 2P, 3P are no samples.
 *
 * An own event takes a descriptor, and two interrupts a period cost twice as
 * much, as do two timers at each switch of threads. So it ends after some
 * periods, at the first interrupt of either event that meets the program. The
 * next inherited one, or this one, is a sample with probability 1/2: from there
 * on a thread that ends after T has had floor(T / P) + 1/2 samples on average.
 * That is off by half a sample at most, and right on average over T.
 *
 * The event can be given the first interval F, but not a different second one,
 * and an interrupt that meets the kernel is dropped. So it repeats at 2F, 3F,
 * until one meets the program. That one is a sample if it is the first, at F.
 * Otherwise the sample that was due is lost, as it is in a thread that is not
 * young, and the next one is due a period later. If that was missed too, there
 * is one sample too few: a tenth at most, where half of the time is the
 * kernel's.
 */
#ifndef COMDET_PRELOAD_SOURCES_CLOCK_PHASE_H
#define COMDET_PRELOAD_SOURCES_CLOCK_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/rng.h"

enum {
	PHASE_PERIODS = 8, /* until the own event ends */
};

struct phase {
	bool own;       /* the thread has its own event */
	bool steady;    /* which comes every period */
	uint64_t until; /* CPU time of the thread, ns */
	uint64_t due;   /* CPU time when it should come */
	uint64_t step;  /* between its interrupts until it is steady */
	uint64_t half; /* if it is over: CPU time up to which the next inherited
			  one is a sample with probability 1/2 */
};

/* The own event begins at CPU time @cpu. Returns its first interval. */
static inline uint64_t phase_begin(struct phase *p, uint64_t cpu,
				   uint64_t period, struct rng *rng)
{
	uint64_t first = 1 + rng_below(rng, period);

	/* Half a period early: the inherited one began a little before. */
	*p = (struct phase){ .own = true,
			     .until = cpu + PHASE_PERIODS * period - period / 2,
			     .due = cpu + first,
			     .step = first };
	return first;
}

/*
 * The own event came at CPU time @cpu. Returns true if it is a sample. Close
 * it if p->own has become false, else set its interval to @interval unless that
 * is 0.
 */
static inline bool phase_own(struct phase *p, uint64_t cpu, uint64_t period,
			     uint64_t *interval)
{
	*interval = 0;
	if (!p->own)
		return false;
	if (cpu >= p->until) {
		p->own = false;
		p->half = cpu + period;
	}
	if (p->steady)
		return true;
	p->steady = cpu < p->due + p->step;
	*interval = period;
	if (p->steady)
		return true;
	p->due += (cpu - p->due) / period * period + period;
	*interval = p->step = p->due - cpu;
	return false;
}

/*
 * The inherited event came, at CPU time @cpu; any will do if neither p->own nor
 * p->half is set. Returns true if it is a sample. Close the own one if p->own
 * has become false.
 */
static inline bool phase_inherited(struct phase *p, uint64_t cpu,
				   struct rng *rng)
{
	bool half = p->own || cpu < p->half;

	if (p->own && cpu < p->until)
		return false;
	p->own = false;
	p->half = 0;
	return !half || rng_below(rng, 2);
}

/* Timers on CPU time are looked at on ticks: a period has whole ones. */
static inline uint64_t phase_ticks(uint64_t period, uint64_t tick)
{
	uint64_t n = (period + tick / 2) / tick;

	return n ? n : 1;
}

/*
 * The first expiry of a timer on a thread's CPU clock, its period being whole
 * ticks. What is due fires on the next tick. So that the thread's first tick,
 * too, finds it due with probability @tick / @period, round down to whole
 * ticks. (0 would switch the timer off.)
 */
static inline uint64_t phase_of_timer(uint64_t period, uint64_t tick,
				      struct rng *rng)
{
	uint64_t first = rng_below(rng, period);

	first = tick ? first / tick * tick : first;
	return first ? first : 1;
}

#endif
