/* SPDX-License-Identifier: MIT */
/*
 * thread - the hardware events of one thread, from opening to its samples
 *
 *	pmu_thread_open     open the plan's events for the calling thread, off
 *	pmu_thread_resume   switch them on
 *	  a sample: the kernel writes a record and raises the signal
 *	pmu_thread_pause    switch off, so that our own accesses do not count
 *	pmu_thread_drain    hand each record to the sink
 *	pmu_thread_resume   draw new intervals for events that fired; switch on
 *	pmu_thread_close
 *
 * All events of a thread share one ring. Each interval to the next sample is
 * drawn evenly between 3/4 and 5/4 of the period, so that samples cannot keep
 * step with a loop; its variance is period^2 / 48.
 *
 * Only its thread touches it, but for pmu_thread_pause and
 * pmu_thread_switch_on: another thread may call these at any moment, also while
 * the thread opens and closes its events.
 *
 * Context: any, handler included; no allocation.
 */
#ifndef COMDET_PMU_THREAD_H
#define COMDET_PMU_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/loss.h"
#include "ring.h"
#include "plan.h"
#include "take.h"
#include "src/base/rng.h"

/* How its signals are delivered; all zero: not at all. */
struct pmu_delivery {
	bool sigtrap;      /* synchronous SIGTRAP, with ... */
	uint64_t sig_data; /* ... this | index of the event */
	int signal;        /* or queued: this one, to thread ... */
	pid_t tid;
	int fd_base; /* descriptors not below this, 0: any */
};

/* Count of the events of a role, with the times they were enabled and running.
 */
struct pmu_progress {
	uint64_t value, enabled, running;
};

struct pmu_thread {
	const struct perf_kernel *kernel;
	_Atomic(const struct pmu_plan *) plan; /* NULL: not open */
	struct rng *rng;
	struct perf_ring ring;
	size_t map_bytes;
	uint32_t fired; /* bit per event */
	struct {
		int fd;
		uint64_t id;
	} event[PMU_EVENTS_MAX];
	/*
	 * Samples of the program's own code, and those of them with an access.
	 */
	uint64_t user_samples, memory_samples;
	struct pmu_progress progress[PMU_COUNTS + 1]; /* by role */
	double accesses;                              /* made until then */
};

struct pmu_sink {
	void (*sample)(void *ctx, const struct pmu_sample *s);
	/* @n samples or records were lost for @cause. */
	void (*lost)(void *ctx, enum loss_cause cause, uint64_t n);
};

/* Where pmu_thread_open failed. */
struct pmu_failure {
	uint32_t event;
	bool ring; /* the ring failed, not the event */
};

/*
 * Returns 0 or -errno. After an error no event is open, and *@at, unless NULL,
 * says where it failed.
 */
int pmu_thread_open(struct pmu_thread *t, const struct perf_kernel *kernel,
		    const struct pmu_plan *plan, const struct pmu_delivery *how,
		    struct rng *rng, struct pmu_failure *at);

/* Closes only descriptors that are still ours: the program may close them. */
void pmu_thread_close(struct pmu_thread *t);

void pmu_thread_pause(struct pmu_thread *t);
void pmu_thread_resume(struct pmu_thread *t);
/* Switch on from another thread, without new intervals. */
void pmu_thread_switch_on(struct pmu_thread *t);

void pmu_thread_drain(struct pmu_thread *t, const struct pmu_sink *sink,
		      void *ctx);

/* True if @fd is a descriptor of one of its events. */
bool pmu_thread_has(const struct pmu_thread *t, int fd);

/*
 * True if the descriptor of event @i is open, and the event's: the program may
 * have closed it, and opened a file of its own there.
 */
bool pmu_thread_owns(const struct pmu_thread *t, uint32_t i);

/*
 * Totals since the events were opened, scaled by the time that each was on a
 * counter.
 */
struct pmu_counts {
	uint64_t loads, stores; /* of events that count all */
	uint64_t ops;           /* retired, 0 if nothing counts them */
	/*
	 * An event was off its counter at times, or instructions and uops are
	 * added up (kinds of cores).
	 */
	bool scaled;
	bool never; /* an event was never on a counter */
};
void pmu_thread_counts(const struct pmu_thread *t, struct pmu_counts *c);

/*
 * How many memory accesses the thread has made by now; only differences are
 * meaningful. Adds the count since the last call, scaled if an event was off
 * its counter in between. For IBS it is ops times the share of accesses among
 * the samples so far. Call it while the events are off. Returns false if no
 * event counts every access.
 */
bool pmu_thread_accesses(struct pmu_thread *t, uint64_t *accesses);

#endif
