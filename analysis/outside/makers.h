/* SPDX-License-Identifier: MIT */
/*
 * makers - threads that make short ones, and their fine clocks
 *
 * A thread of a few periods has too few samples (clocks.h). A fine clock mends
 * that, for some five interrupts in a period instead of one. So a thread gets
 * one only if threads that it has made were short, at least as long as a fine
 * tick, and together a share of the CPU time of its process that matters;
 * and loses it when that is over. Threads and processes that it makes in the
 * meantime inherit the fine clock.
 *
 * What is short is known at its end, so the first ones are missed: those of
 * the 20 ms or so until the watcher reads of it.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_MAKERS_H
#define COMDET_ANALYSIS_OUTSIDE_MAKERS_H

#include <stdint.h>

#include "clocks.h"
#include "tasks.h"

enum {
	MAKERS_MAX = 64, /* each has a descriptor for each processor */
};

struct maker {
	uint32_t set;
	uint32_t process; /* its number */
	uint64_t since;   /* CLOCK_MONOTONIC ns */
};

struct makers {
	struct maker maker[MAKERS_MAX];
	int n;
};

/* @t was made by @maker, NULL if that is not known, at the time @now. */
void makers_made(const struct makers *m, struct task_thread *t,
		 const struct task_thread *maker, uint64_t now);

/* @t ended; the thread that made it may get a fine clock. */
void makers_ended(struct makers *m, struct tasks *tasks, struct clocks *clocks,
		  const struct task_thread *t, uint64_t now);

/* Every second: close the fine clocks that are needed no longer. */
void makers_sweep(struct makers *m, struct tasks *tasks, struct clocks *clocks,
		  uint64_t now);

#endif
