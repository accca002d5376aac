/* SPDX-License-Identifier: MIT */
/*
 * young - a clock event of their own for threads that are young
 *
 * phase.h says why, and which interrupts are samples. The descriptors come from
 * a bounded pool. A thread that has had its event for long without growing old
 * loses it to a thread that begins; the inherited event alone samples it then.
 */
#ifndef COMDET_PRELOAD_SOURCES_CLOCK_YOUNG_H
#define COMDET_PRELOAD_SOURCES_CLOCK_YOUNG_H

#include <stdbool.h>

#include "phase.h"

struct thread;
struct young_slot;

/* A thread's; zeroed when it begins. */
struct young {
	struct young_slot *slot; /* NULL: none, or it was closed */
	struct phase phase;
	uint32_t weight; /* of its event's interrupts, in periods */
};

/* Size the pool, and forget what it held. Context: set-up. */
void young_init(void);

/*
 * The calling thread @t begins, at a rate of @weight periods a sample. It keeps
 * that rate while it is young. Without a descriptor for it, a loss is counted
 * and the thread goes without. Any context.
 */
void young_begin(struct young *y, struct thread *t, uint32_t weight);
void young_end(struct young *y, struct thread *t);

/*
 * The clock interrupted @t: its own event (@own), or the inherited one. Returns
 * true if that is a sample. Context: handler.
 */
bool young_takes(struct young *y, struct thread *t, bool own);

/* Close the events of all threads. Any context. */
void young_close_all(void);
/* In a forked child: close the inherited descriptors. Context: set-up. */
void young_after_fork(void);

#endif
