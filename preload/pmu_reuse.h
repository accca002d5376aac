/* SPDX-License-Identifier: MIT */
/*
 * pmu_reuse - reuse times from PEBS and IBS samples (-m reuse)
 *
 * A sample of a hardware event becomes a use, which the thread's own debug
 * registers watch (src/reuse_own.h); time is what the events count. The map of
 * communication is not made then: it would need the same registers.
 *
 * Our handler is user code too. What it accesses before it has switched the
 * events off, and after it has switched them on again, is counted; how much
 * that is for each signal is measured at the start, and subtracted.
 *
 * Context: handler of the thread, except where it says other.
 */
#ifndef COMDET_PMU_REUSE_H
#define COMDET_PMU_REUSE_H

#include <stddef.h>
#include <stdint.h>

#include "interp.h"
#include "src/access.h"

struct thread;
struct pmu_reuse;

/*
 * Can it be done with what there is? Returns 0, or -ENODEV with one line for
 * people in @why. Context: set-up, registers having been tried.
 */
int pmu_reuse_possible(char *why, size_t size);

/* Measure what the handler itself counts. Context: set-up, when sampling. */
void pmu_reuse_calibrate(void);

/* In the thread itself. Any context. */
void pmu_reuse_begin(struct thread *t);
void pmu_reuse_end(struct thread *t);

/* A signal switched its events off: once for all samples that it brings. */
void pmu_reuse_signal(struct thread *t);

/* Its events are off. */
void pmu_reuse_sample(struct thread *t, const struct access *a);

/* Register @reg trapped. On the handler's stack. */
void pmu_reuse_trap(struct thread *t, int reg, const struct cpu_state *cpu);

#endif
