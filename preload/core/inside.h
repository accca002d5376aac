/* SPDX-License-Identifier: MIT */
/*
 * inside - which threads are in code of ours that makes system calls
 *
 * Before the program enters a sandbox, in which our system calls could kill it,
 * no thread may be between two of them.
 */
#ifndef COMDET_PRELOAD_CORE_INSIDE_H
#define COMDET_PRELOAD_CORE_INSIDE_H

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Count the calling thread, and tell whether the process is profiled. If not,
 * make no system call. Either way call inside_leave(). Any context.
 */
bool inside_enter(void);
void inside_leave(void);

/*
 * After runtime_set_active(false), or after a flag that those inside look at:
 * wait until nobody is inside who saw the old value, 10 s at most. A thread
 * that waits for a processor may be inside for long; one that never comes out,
 * because a handler of the program interrupted it and jumped away, must not
 * stop the program for ever. Not inside.
 */
void inside_drain(void);

/* The same for those that @count counts in this way. */
void inside_wait(const _Atomic int *count);

/* In a forked child, which has none of its parent's other threads. */
void inside_reset(void);

#endif
