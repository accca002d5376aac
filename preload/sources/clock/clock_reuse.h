/* SPDX-License-Identifier: MIT */
/*
 * clock_reuse - the CPU time of a thread as the time of its reuses
 *
 * The source clock counts no accesses. What comes nearest is the CPU time of
 * the thread: while it waits or another one has its processor it accesses
 * nothing. The time in our handler is measured and left out; what the kernel
 * takes to get there and back is what sources/thread_reuse.h subtracts for a
 * signal.
 *
 * Context: handler of the thread, except where it says other.
 */
#ifndef COMDET_PRELOAD_SOURCES_CLOCK_CLOCK_REUSE_H
#define COMDET_PRELOAD_SOURCES_CLOCK_CLOCK_REUSE_H

#include <stdint.h>

struct thread;

/* The handler begins, t->cpu_at being set, and ends. */
void clock_reuse_enter(struct thread *t);
void clock_reuse_leave(struct thread *t);

/* CPU time up to the last enter, without what was between enter and leave. */
uint64_t clock_reuse_ns(const struct thread *t);

/* The thread ends. Any context of the thread itself. */
void clock_reuse_end(struct thread *t);

#endif
