/* SPDX-License-Identifier: MIT */
/*
 * pmu - PEBS and IBS as what delivers samples
 *
 * Each thread has events of its own (src/pmu/thread.h): an inherited one
 * could not have a ring, and without a ring nobody knows the instruction. They
 * are kept in a bounded number of slots; a thread that gets none is not
 * sampled, and is counted. The clock runs as well, slowly: it finds threads
 * that no hook saw, and it lets a thread go on that spent too much time in our
 * handler.
 *
 * Context: handler of the thread, except where it says other.
 */
#ifndef COMDET_PRELOAD_SOURCES_PMU_PMU_H
#define COMDET_PRELOAD_SOURCES_PMU_PMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/store/cdp.h"
#include "src/pmu/plan.h"

struct thread;

enum {
	PMU_TICK_NS = 100 * 1000 * 1000, /* of the slow clock */
	PMU_HANDLER_MAX_NS = 1000 * 1000 /* counts as this, if longer */
};

/*
 * Choose the source that the configuration asks for and plan it. Returns 0
 * with a description in @why, -ENODEV if it is not wanted or cannot be had,
 * with the reason. Context: set-up.
 */
int pmu_source_plan(char *why, size_t size);

/* What was planned. */
const struct pmu_plan *pmu_source_chosen(void);

/* The engine's expiry, until it has been measured. Context: set-up. */
void pmu_source_expiry(void);

/* In the thread itself, when it begins and ends. Any context. */
void pmu_source_thread_begin(struct thread *t);
void pmu_source_thread_end(struct thread *t);

/* Its signal came: take its samples. */
void pmu_source_signal(struct thread *t);
/* The same, and drop them: outside of the time that is asked for. */
void pmu_source_skip(struct thread *t);
/* The same after the end of profiling: no more signals. */
void pmu_source_silence(struct thread *t);
/* The slow clock ticked. */
void pmu_source_tick(struct thread *t);

/* Of all threads. Any context. */
void pmu_source_pause(void);
void pmu_source_resume(void);
/*
 * How often that was so far, in *@now whether it is: nothing is counted then,
 * also of a thread that goes on. What pauses counts before it switches off.
 */
uint32_t pmu_source_pauses(bool *now);
/* In a forked child: close what was inherited. Context: set-up. */
void pmu_source_after_fork(void);

/* Is @fd an event of thread @t? Any context. */
bool pmu_source_has(const struct thread *t, int fd);

/* Off and on again, for a trap of the thread. */
void pmu_source_hold(struct thread *t);
void pmu_source_let_go(struct thread *t);

/* pmu_thread_accesses; false without events as well. They are off. */
bool pmu_source_accesses(struct thread *t, uint64_t *accesses);

/* Bring what has been counted into the thread's row. Any context. */
void pmu_source_count(struct thread *t);

#endif
