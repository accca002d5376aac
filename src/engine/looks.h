/* SPDX-License-Identifier: MIT */
/*
 * looks - lines that threads share too seldom for samples to meet
 *
 * A sample is one access, but the source clock knows a window of coming
 * accesses to choose it from. Of a line that takes one access in 1,000, a
 * window has one ten times as often as the sample is one. So each thread looks
 * through its windows. A table holds the store to each line that was seen last,
 * and whose it was. If a thread's window accesses a line that another thread,
 * which still lives, was last seen to store to, the line has changed hands: the
 * two have met. Each store that was seen counts for one meeting.
 *
 * A line on which two have met once may have been handed over for good. So
 * meetings are told from a line's second one on.
 *
 * Their numbers are no estimates. Windows are cut where the sample is drawn, so
 * what comes late in them is seen less often; and lines that many others
 * displace from the table are found late.
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

/* A meeting. */
struct sighting {
	uint64_t line;
	uint32_t publisher_thread; /* that stored */
	/*
	 * The store. Its length is the power of two at or below that of the
	 * access, and cut where the line ends.
	 */
	struct access publisher;
	struct access detector;
};

struct looks_sink {
	bool (*lives)(uint32_t thread); /* it has not ended */
	void (*sighted)(void *ctx, const struct sighting *s);
};

/*
 * Look through the @n accesses @a that thread @thread is about to make, in
 * order. Left out are those of push, pop, call and ret, and of an access to
 * more than two lines all but the first and the last. Each meeting is told to
 * @sink, with @ctx.
 */
void looks_through(struct looks *l, uint32_t thread, const struct access *a,
		   uint32_t n, const struct looks_sink *sink, void *ctx);

#endif
