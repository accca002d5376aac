/* SPDX-License-Identifier: MIT */
/*
 * rate - how often threads are sampled if the cost is limited (--budget)
 *
 * All threads have one rate, full or slow. It is full at first, and for a while
 * after each time that a thread meets sharing, as far as the budget goes. So
 * time goes where there is something to see. A slow sample weighs as many as
 * the full rate would have taken; the weight is known before the sample is
 * taken, so sums of weights estimate what the full rate would have found, and
 * are unbiased (Horvitz and Thompson, JASA 47, 1952).
 *
 * Threads must not have different rates. A slow sample would meet what a thread
 * at the full rate publishes more often than a sample of the full rate does,
 * and it weighs more.
 *
 * Each sample tells that a period of CPU time has passed. Interrupts that meet
 * the kernel are no samples, so now and then the kernel is asked, too, and how
 * often the thread was switched: each switch stops and starts the clock. What
 * interrupts and switches take cannot be seen from inside; RATE_INTERRUPT_NS
 * and RATE_SWITCH_NS are what virtual machines took.
 */
#ifndef COMDET_PRELOAD_SOURCES_CLOCK_RATE_H
#define COMDET_PRELOAD_SOURCES_CLOCK_RATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	RATE_SLOW = 4,              /* 50 Hz where the full rate is 200 */
	RATE_INTERRUPT_NS = 60000,  /* and a handler takes about */
	RATE_HANDLER_NS = 50000,    /* so long */
	RATE_SWITCH_NS = 4000,      /* and a switch, at the full rate */
	RATE_SWITCH_SLOW_NS = 2000, /* or at the slow one */
	RATE_FIRST_NS = 500000000,  /* CPU time of a thread at full rate */
	RATE_FOUND_NS = 1000000000, /* the same after sharing was met */
	RATE_AHEAD_NS = 1000000000, /* CPU time that may be spent beforehand */
	RATE_STRETCH = 50,          /* samples; a shorter one is not begun */
	RATE_FIRST_THREADS = 64,    /* later ones do not begin a stretch */
	RATE_WHOLE = 1000000,       /* a budget of all the CPU time */
};

/* Of the process. CPU time is in ns and of all threads. */
struct rate {
	uint32_t millionths; /* of the CPU time; 0: the rate is fixed */
	_Atomic uint32_t threads, begun; /* that live, that ever did */
	_Atomic int64_t left;            /* CPU time at the full rate */
	_Atomic uint64_t spent, passed;
};

/*
 * What a slow sample weighs, so that the slow rate alone keeps within the
 * budget.
 */
static inline uint32_t rate_slow_weight(uint32_t millionths, uint64_t period)
{
	const uint64_t cost = RATE_INTERRUPT_NS + RATE_HANDLER_NS;
	uint64_t weight;

	if (!millionths)
		return 1;
	weight = cost * RATE_WHOLE / ((uint64_t)millionths * period) + 1;
	return weight < RATE_SLOW ? RATE_SLOW : (uint32_t)weight;
}

static inline void rate_init(struct rate *r, uint32_t millionths)
{
	r->millionths = millionths;
	atomic_store(&r->threads, 0);
	atomic_store(&r->begun, 0);
	atomic_store(&r->left, 0);
	atomic_store(&r->spent, 0);
	atomic_store(&r->passed, 0);
}

static inline void rate_thread_begins(struct rate *r)
{
	atomic_fetch_add_explicit(&r->threads, 1, memory_order_relaxed);
	if (atomic_fetch_add_explicit(&r->begun, 1, memory_order_relaxed) <
	    RATE_FIRST_THREADS)
		atomic_fetch_add_explicit(&r->left, RATE_FIRST_NS,
					  memory_order_relaxed);
}

static inline void rate_thread_ends(struct rate *r)
{
	atomic_fetch_sub_explicit(&r->threads, 1, memory_order_relaxed);
}

/* A thread has met sharing. */
static inline void rate_found(struct rate *r)
{
	uint32_t n = atomic_load_explicit(&r->threads, memory_order_relaxed);
	int64_t left = (int64_t)RATE_FOUND_NS * n;

	if (atomic_load_explicit(&r->left, memory_order_relaxed) < left)
		atomic_store_explicit(&r->left, left, memory_order_relaxed);
}

/* @passed ns of CPU time are over, at the full rate or not. */
static inline void rate_pass(struct rate *r, uint64_t passed, bool full)
{
	atomic_fetch_add_explicit(&r->passed, passed, memory_order_relaxed);
	if (full)
		atomic_fetch_sub_explicit(&r->left, (int64_t)passed,
					  memory_order_relaxed);
}

/* A signal took @handler ns. */
static inline void rate_spend(struct rate *r, uint64_t handler)
{
	atomic_fetch_add_explicit(&r->spent, handler + RATE_INTERRUPT_NS,
				  memory_order_relaxed);
}

/* Of a thread. */
struct rate_seen {
	uint64_t cpu;      /* CPU time, ns */
	uint64_t switches; /* to other threads */
};

/*
 * The kernel says @now of a thread, of which @seen is counted so far: count the
 * rest. Samples may have counted a part of a period too much.
 */
static inline void rate_look(struct rate *r, struct rate_seen *seen,
			     const struct rate_seen *now, bool full)
{
	uint64_t passed = now->cpu > seen->cpu ? now->cpu - seen->cpu : 0;
	uint64_t cost = full ? RATE_SWITCH_NS : RATE_SWITCH_SLOW_NS;

	atomic_fetch_add_explicit(&r->spent,
				  cost * (now->switches - seen->switches),
				  memory_order_relaxed);
	rate_pass(r, passed, full);
	seen->cpu += passed;
	seen->switches = now->switches;
}

/* Are threads to be sampled at the full rate now, or to go on so (@full)? */
static inline bool rate_wants_full(const struct rate *r, bool full)
{
	const uint64_t stretch =
		RATE_STRETCH * (RATE_INTERRUPT_NS + RATE_HANDLER_NS);
	uint64_t spent = atomic_load_explicit(&r->spent, memory_order_relaxed);
	uint64_t passed =
		atomic_load_explicit(&r->passed, memory_order_relaxed);
	uint64_t may = (passed + RATE_AHEAD_NS) / RATE_WHOLE * r->millionths;

	return atomic_load_explicit(&r->left, memory_order_relaxed) > 0 &&
	       spent + (full ? 0 : stretch) <= may;
}

#endif
