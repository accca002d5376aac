/* SPDX-License-Identifier: MIT */
/*
 * thread_reuse - reuse times of each thread by its own registers (-m reuse)
 *
 * What the source sampled becomes a use, which the thread's own debug registers
 * watch (src/engine/reuse_thread_regs.h). The map of communication is not made
 * then: it would need the same registers.
 *
 * Time is what the source counts: accesses by the hardware's events, or
 * nanoseconds of the thread's CPU time by the clock (clock/clock_reuse.h).
 * Either counts part of our handler as well. How much that is for each signal
 * is measured at the start, and subtracted.
 *
 * Context: handler of the thread, except where it says other.
 */
#ifndef COMDET_PRELOAD_SOURCES_THREAD_REUSE_H
#define COMDET_PRELOAD_SOURCES_THREAD_REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/x86/interp/interp.h"
#include "src/base/access.h"

struct thread;
struct thread_reuse;

/*
 * Can the source in use measure reuse with what there is? Returns 0, or
 * -ENODEV with one line for people in @why. Context: set-up, registers having
 * been tried.
 */
int thread_reuse_possible(char *why, size_t size);

/* Measure what a signal counts. Context: set-up, when sampling. */
void thread_reuse_calibrate(void);

/* In the thread itself; at the end its events are off. Any context. */
void thread_reuse_begin(struct thread *t);
void thread_reuse_end(struct thread *t);

/* A signal came: once for all samples that it brings. */
void thread_reuse_signal(struct thread *t);

/* source_ops.takes_late_traps of sources that thread_reuse serves. */
bool thread_reuse_takes_late(const struct thread *t);

/* A sample of an access that was made; the thread's events are off. */
void thread_reuse_sample(struct thread *t, const struct access *a);

/* A sample of an access that the thread is about to make. */
void thread_reuse_sample_ahead(struct thread *t, const struct access *a);

/* Register @reg trapped. On the handler's stack. */
void thread_reuse_trap(struct thread *t, int reg, const struct cpu_state *cpu);

/*
 * The same, but the signal was blocked then: the access was one of our handler,
 * whose stack begins where deeper calls of the program had theirs, or of the
 * program in a place where it takes no signals. The use is lost. Were it
 * watched on, the handler might trap again each time.
 */
void thread_reuse_late(struct thread *t, int reg);

#endif
