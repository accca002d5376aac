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
#include <sys/types.h>

struct rng;
struct thread;

/* Whose interrupt it is, in watch_signal.reg. */
enum clock_event {
	CLOCK_FULL, /* inherited by all threads, at the full rate */
	CLOCK_OWN,  /* a young thread's (young.h) */
	CLOCK_SLOW, /* inherited, at the slow rate */
};

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
 * Have a slow rate too: an interrupt at each period number @weight, 1: none.
 * Timers have none. After clock_set_period, which makes it 1, and before
 * clock_open, which makes it 1 if no descriptor is left. Context: set-up.
 */
void clock_allow_slow(uint32_t weight);
uint32_t clock_slow_weight(void); /* any context */

/* Change the rate of all threads. Context: any. */
void clock_use_slow(bool slow);

/*
 * Open and start it, at the full rate: the event, or the calling thread's
 * timer. Returns 0, or -errno with the reason for people in @why. Context:
 * set-up.
 */
int clock_open(char *why, size_t size);
/* The same with the timer @id, which the calling thread has already. */
void clock_open_timer(int id);
void clock_close(void);
/* True if the program closed the event, as a descriptor it does not know. */
bool clock_was_closed(void);
void clock_pause(void);
void clock_resume(void);
void clock_thread_begin(struct thread *t);
/*
 * A timer on the CPU clock of thread @tid, which must be the calling one. It
 * comes first in *@first ns. Returns its id or -errno. Any context.
 */
int clock_timer_new(pid_t tid, struct rng *rng, uint64_t *first);
void clock_thread_end(struct thread *t);

#endif
