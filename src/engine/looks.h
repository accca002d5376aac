/* SPDX-License-Identifier: MIT */
/*
 * looks - lines that threads share too seldom for samples to meet
 *
 * A sample is one access, but the source clock knows a window of coming
 * accesses to choose it from. Of a line that takes one access in 1,000, a
 * window has one ten times as often as the sample is one. So each thread looks
 * through its windows. A table holds the store to each line that was seen last,
 * and whose it was. If a thread's window accesses a line that another thread
 * was last seen to store to, the line has changed hands: the two have met. Each
 * store that was seen counts for one meeting.
 *
 * A line on which two have met once may have been handed over for good. From
 * the second meeting on, each look in which a thread accesses the line is a
 * sighting. So sightings by looks tell which share of a thread's windows have
 * the line.
 *
 * Unlike the map of engine/comm.h this says nothing about how sharing divides
 * among lines: lines that many others displace from the table are found late.
 *
 * Context: handler of the thread. Wait-free: an entry that another thread
 * changes at the same moment is left to it, and a meeting may be lost. Memory
 * order: docs/memory-model.md.
 */
#ifndef COMDET_ENGINE_LOOKS_H
#define COMDET_ENGINE_LOOKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/access.h"

enum {
	LOOKS_ENTRIES = 8192,
	LOOKS_LINE_BYTES = 64,
	LOOKS_THREADS_MAX = 1 << 20, /* threads from this id on are left out */
};

/* All zero: nothing was seen. */
struct looks_entry {
	_Atomic uint64_t line;  /* line, thread, meetings, met: looks.c */
	_Atomic uint64_t store; /* the store to it */
};

struct looks {
	struct looks_entry entry[LOOKS_ENTRIES];
};

struct sighting {
	uint64_t line;
	uint32_t publisher_thread; /* last seen to store there; perhaps @thread
				    */
	/*
	 * The store. Its length is the power of two at or below that of the
	 * access, and cut where the line ends.
	 */
	struct access publisher;
	struct access detector; /* the first of this window */
	bool meets;             /* else an access since has met that store */
};

/*
 * Look through the @n accesses @a that thread @thread is about to make, in
 * order; those of push, pop, call and ret are left out. @sighted is called once
 * for each line at most.
 */
void looks_through(struct looks *l, uint32_t thread, const struct access *a,
		   uint32_t n,
		   void (*sighted)(void *ctx, const struct sighting *s),
		   void *ctx);

#endif
