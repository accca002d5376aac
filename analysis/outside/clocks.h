/* SPDX-License-Identifier: MIT */
/*
 * clocks - the clock events of all watched threads, and their rings
 *
 * A thread that exists when we attach gets one event on each processor; the
 * events of one thread are a *set*. Threads that it makes later inherit the
 * set, so they are sampled from their first instruction. All events of a
 * processor write into one ring, which belongs to an event of our own: it does
 * not end with a thread.
 *
 * The kernel begins a whole period with each thread, so a thread that is
 * shorter would never be sampled. The clock therefore ticks several times in a
 * period, and one tick of so many in a ring is the sample. It is the one that
 * wakes us, so its memory is read at once; the other ticks cost no more than an
 * interrupt.
 *
 * A thread may inherit a set and be found in a list as well, and then have two.
 * Its samples tell which set they are of: take those of the first one only.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_CLOCKS_H
#define COMDET_ANALYSIS_OUTSIDE_CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "rings.h"

enum {
	CLOCK_SET_NONE = 0, /* sets are numbered from 1 */
};

struct clock_event {
	uint64_t id;
	uint32_t set;
	int fd;
};

struct clocks {
	struct rings *rings;
	struct outside_ring *ring; /* by processor */
	int *fd;                   /* of the rings, -1: no such processor */
	int cpus;
	int poll;       /* epoll descriptor that wakes us */
	uint64_t tick;  /* ns of a thread's CPU time */
	uint32_t ticks; /* a sample */
	bool children, on_exec;
	uint32_t sets;
	struct clock_event *event; /* by rising id */
	size_t events, room;
};

/* How many ticks, each an interrupt, a sample takes. @period is ns. */
uint32_t clocks_ticks(uint64_t period);

/*
 * Make the rings. @poll is an epoll descriptor, which reports them. @period is
 * ns of CPU time between samples. Returns 0 or -errno of perf_event_open or
 * mmap.
 */
int clocks_init(struct clocks *c, struct rings *rings, int poll,
		uint64_t period, bool children, bool on_exec);

/* Open a set for thread @tid. Returns 0 or -errno, and then there is none. */
int clocks_attach(struct clocks *c, pid_t tid);

/* True if the tick that was just read from @ring is a sample. */
bool clocks_is_sample(const struct clocks *c, struct outside_ring *ring);

/* The set of the event @id, CLOCK_SET_NONE if it is not a clock's. */
uint32_t clocks_set(const struct clocks *c, uint64_t id);

void clocks_release(struct clocks *c);

#endif
