/* SPDX-License-Identifier: MIT */
/*
 * clock - interrupts after so much CPU time of each thread
 *
 * One inherited perf task-clock event covers every thread of the process, new
 * ones included, and raises SIGTRAP in user mode only, so it interrupts no
 * system call of the application. Where perf_events is denied or too old, each
 * thread has a POSIX timer on its own CPU clock.
 *
 * The source clock samples at these interrupts (clock_source.c). The source pmu
 * does not: there an interrupt is only a chance to look after the thread.
 */
#ifndef COMDET_PRELOAD_SOURCES_CLOCK_CLOCK_H
#define COMDET_PRELOAD_SOURCES_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread;

/*
 * The clock of one thread; the first part of what its source keeps (thread.h).
 */
struct clock_state {
	bool has_timer;
	int timer; /* POSIX timer id */
};

/*
 * Set runtime.period_ns to the period that the interrupts really have: @ns, or
 * with timers the nearest number of the kernel's ticks. Context: set-up.
 */
void clock_set_period(uint64_t ns);

/*
 * Open and start it: the event, or the calling thread's timer. Returns 0, or
 * -errno with the reason for people in @why. Context: set-up.
 */
int clock_open(char *why, size_t size);
void clock_close(void);
/* True if the program closed the event, as a descriptor it does not know. */
bool clock_was_closed(void);
void clock_pause(void);
void clock_resume(void);
void clock_thread_begin(struct thread *t);
void clock_thread_end(struct thread *t);

#endif
