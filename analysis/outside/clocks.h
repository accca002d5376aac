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
 * shorter would never be sampled. Threads that make such threads (makers.h) get
 * a *fine* set besides, which those inherit: it ticks several times in a
 * period, and one fine tick of so many in a ring is a sample. It is the one
 * that wakes us, so its memory is read at once; the other ticks cost no more
 * than an interrupt, and with stacks a copy. For what fine ticks have covered,
 * the tick of the period is none: after k of n fine ticks it is a sample with
 * probability 1 - k / n. So a thread with CPU time T has T / period samples on
 * average, but for a fine tick, from the moment on at which it has a fine set.
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

#include "event.h"
#include "rings.h"

enum {
	CLOCK_SET_NONE = 0, /* sets are numbered from 1 */
};

struct clock_event {
	uint64_t id;
	uint32_t set;
	int fd;
	bool fine;
	bool ended; /* as clocks_ended() saw, of the first of a set */
};

struct clocks {
	struct rings *rings;
	struct outside_ring *ring; /* by processor */
	int *fd;                   /* of the rings, -1: no such processor */
	int cpus;
	int poll;       /* epoll descriptor that wakes us */
	uint64_t tick;  /* ns of a thread's CPU time: of fine sets */
	uint32_t ticks; /* of them a period; 1: no fine set is of use */
	enum event_heirs heirs;
	bool on_exec;
	bool stacks; /* samples have the stack; set before attaching */
	uint32_t sets;
	struct clock_event *event; /* by rising id */
	size_t events, room;
};

/*
 * Make the rings. @poll is an epoll descriptor, which reports them. @period is
 * ns of CPU time between samples. Returns 0 or -errno of perf_event_open or
 * mmap.
 */
int clocks_init(struct clocks *c, struct rings *rings, int poll,
		uint64_t period, enum event_heirs heirs, bool on_exec);

/*
 * Open a set for thread @tid, its number is c->sets then. Returns 0 or -errno,
 * and then there is none.
 */
int clocks_attach(struct clocks *c, pid_t tid);

/* The same for a fine set, which begins at once. */
int clocks_attach_fine(struct clocks *c, pid_t tid);

/*
 * The first set after @set whose threads have all ended, also those that have
 * inherited it, and had so at the last look at it. Its last records are taken
 * in if that was done between the looks. 0: none.
 */
uint32_t clocks_ended(struct clocks *c, uint32_t set);

/* Close the set @set, also in the threads that have inherited it. */
void clocks_close(struct clocks *c, uint32_t set);

/*
 * True if the fine tick, or that of an event that is closed, that was just read
 * from @ring is a sample.
 */
bool clocks_is_sample(const struct clocks *c, struct outside_ring *ring);

/* The event @id, NULL if it is not a clock's. */
const struct clock_event *clocks_event(const struct clocks *c, uint64_t id);

void clocks_release(struct clocks *c);

#endif
