/* SPDX-License-Identifier: MIT */
/*
 * wake - the first interrupt of a followed child, before it has a profile
 *
 * It is a timer on the child's CPU time, which costs a tenth of an event. It
 * comes on the first tick, or a later one of the child's first period
 * (phase_of_timer); later interrupts of any clock come a period apart. So a
 * child is sampled as often as its CPU time is worth.
 *
 * Since Linux 5.10 the kernel raises the signal of such a timer when the thread
 * returns to the program, so it interrupts no system call.
 */
#ifndef COMDET_PRELOAD_SOURCES_CLOCK_WAKE_H
#define COMDET_PRELOAD_SOURCES_CLOCK_WAKE_H

#include <stdbool.h>

/* Interrupt the calling thread. Returns 0 or -errno. Context: set-up. */
int wake_begin(void);

/* It was interrupted, and a sample is due. Context: handler. */
void wake_came(void);

/*
 * The wait is over. Returns true if a sample was due; where threads have timers
 * *@timer is then the thread's, which goes on, else -1. Any context.
 */
bool wake_end(int *timer);

/* No CPU time counts between them. Context: any. */
void wake_pause(void);
void wake_resume(void);

/* In a forked child, which inherits no timers. Context: set-up. */
void wake_after_fork(void);

#endif
