/* SPDX-License-Identifier: MIT */
/*
 * child - a followed child of fork begins its profile with its first sample
 *
 * Most children of fork end or execute a program at once. So a child only
 * closes what it inherited, keeps the claim of the signal and sets a clock. Its
 * file, tables and registers are made in the handler, when a sample is due, or
 * before it creates its first thread.
 *
 *	fork -> child_wait -> (sample due | thread created) -> active
 *	             \-> exec, exit, sandbox: it ends without a file
 *
 * Only sources with the operation wait do this, and not with -m reuse. With
 * others the child starts as a new process does.
 */
#ifndef COMDET_PRELOAD_START_CHILD_H
#define COMDET_PRELOAD_START_CHILD_H

#include <stdbool.h>

/*
 * What our file says of the machine and the measurement: children say it too.
 * Context: the end of the set-up.
 */
void child_remember(void);

/* True if a child of this process may wait. Context: set-up. */
bool child_may_wait(void);

/*
 * In the forked child, which has released what it inherited and kept the claim:
 * wait. Returns false if that fails. Context: set-up.
 */
bool child_wait(void);

/*
 * If this process waits, begin now: it creates a thread, or may be unable to
 * later. Any context but our handler.
 */
void child_begin(void);

/*
 * If this process waits, it ends, or (@why is not NULL) profiling stops and one
 * line says why. Any context but our handler.
 */
void child_end(const char *why);

#endif
