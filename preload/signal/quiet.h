/* SPDX-License-Identifier: MIT */
/*
 * quiet - no samples while a signal of the application's is held
 *
 * A sample that came to a thread which has a held signal would wait beside it.
 * When the thread unblocks the signal, the kernel would deliver the sample
 * first, and the application's signal after all others.
 *
 * Context of all functions: any.
 */
#ifndef COMDET_PRELOAD_SIGNAL_QUIET_H
#define COMDET_PRELOAD_SIGNAL_QUIET_H

#include <stdbool.h>

/* Call @fn(true) to stop all samples, @fn(false) to let them come again. */
void signal_when_quiet(void (*fn)(bool quiet));

/* The calling thread has a held signal, or has none any more. */
void signal_quiet_begin(void);
void signal_quiet_end(void);

/*
 * A thread has received a signal that was sent to the process: perhaps another
 * one held it, and will not learn of that.
 */
void signal_quiet_end_all(void);

/* In a forked child, where no thread has one. */
void signal_quiet_reset(void);

#endif
