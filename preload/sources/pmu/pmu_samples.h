/* SPDX-License-Identifier: MIT */
/*
 * pmu_samples - the hardware events of each thread, and what they sampled
 *
 * Context: handler of the thread, except where it says another.
 */
#ifndef COMDET_PRELOAD_SOURCES_PMU_PMU_SAMPLES_H
#define COMDET_PRELOAD_SOURCES_PMU_PMU_SAMPLES_H

#include "preload/core/thread.h"
#include "preload/sources/clock/clock.h"
#include "preload/watch/watch.h"
#include "src/pmu/plan.h"

enum {
	PMU_GAP_FIRST_NS = 200 * 1000, /* between samples, until measured */
};

/* What the source keeps of a thread. */
struct pmu_own {
	struct clock_state clock;
	struct pmu_slot *slot; /* NULL: it has no events */
	uint64_t sampled_at;
	const struct cpu_state *cpu; /* at the signal that is handled */
};

/* What is opened for each thread: constant after set-up. */
extern struct pmu_plan pmu_plan;

/* Open and close the events of @t, the calling thread. Any context. */
void pmu_samples_begin(struct thread *t);
void pmu_samples_end(struct thread *t);

/* These are operations of source_ops and source_reuse: core/source.h. */
void pmu_samples_pause(void);
void pmu_samples_resume(void);
void pmu_samples_after_fork(void);
void pmu_samples_count(struct thread *t);
void pmu_samples_on_signal(struct thread *t, const struct watch_signal *s,
			   const struct cpu_state *cpu);
void pmu_samples_skip(struct thread *t, const struct watch_signal *s);
void pmu_samples_disarm_after_stop(struct thread *t,
				   const struct watch_signal *s);
bool pmu_samples_has_descriptor(const struct thread *t, int fd);
bool pmu_samples_has_anywhere(int fd);
void pmu_samples_enter(struct thread *t);
void pmu_samples_leave(struct thread *t, const struct watch_signal *s);
uint32_t pmu_samples_pauses(bool *now);
bool pmu_samples_accesses(struct thread *t, uint64_t *accesses);

#endif
