/* SPDX-License-Identifier: MIT */
/*
 * thread_reuse - reuse times of each thread by its own registers (-m reuse)
 *
 * What the source sampled becomes a use, which the thread's own debug registers
 * watch (src/engine/reuse_thread_regs.h). The map of communication is not made
 * then: it would need the same registers.
 *
 * Time is what the source counts: accesses (hardware events) or nanoseconds of
 * the thread's CPU time (clock). Either includes part of our handler. We
 * measure at the start how much each signal adds, and subtract it.
 *
 * Context: handler of the thread, unless a function says otherwise.
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
 * Returns 0 if the source can measure reuse on this machine, else -ENODEV with
 * one line for people in @why. Context: set-up, after the self-test of the
 * registers.
 */
int thread_reuse_possible(char *why, size_t size);

/* Measure how much a signal adds to the count. Set-up, while sampling. */
void thread_reuse_calibrate(void);

/* The calling thread begins; ends, with its events off. Any context. */
void thread_reuse_begin(struct thread *t);
void thread_reuse_end(struct thread *t);

/*
 * The thread's source stops counting its accesses for a while, as nobody
 * else's: drop the current uses.
 */
void thread_reuse_drop(struct thread *t);

/* A signal came; call this once for all samples that it brings. */
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
 * Register @reg trapped while the signal was blocked. Either our handler made
 * the access, on stack that deeper calls of the program had used, or the
 * program did where it blocks signals. The use is lost and disarmed, because
 * the handler might trap on it again each time.
 */
void thread_reuse_late(struct thread *t, int reg);

#endif
