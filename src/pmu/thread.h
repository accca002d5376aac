/* SPDX-License-Identifier: MIT */
/*
 * thread - the hardware events of one thread, from opening to its samples
 *
 *	pmu_thread_open     the plan's events for the calling thread, off
 *	pmu_thread_resume   on
 *	  a sample: the kernel writes a record and raises the signal
 *	pmu_thread_pause    off: our own accesses are not the program's
 *	pmu_thread_drain    each record to the sink
 *	pmu_thread_resume   new intervals for what has fired, on
 *	pmu_thread_close
 *
 * All events of a thread share one ring. The interval to the next sample is
 * drawn anew each time, evenly within a quarter around the period, so that it
 * cannot keep step with a loop; its variance is period^2 / 48.
 *
 * Only its thread touches it. Context: any, handler included; no allocation.
 */
#ifndef COMDET_PMU_THREAD_H
#define COMDET_PMU_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "src/base/loss.h"
#include "ring.h"
#include "plan.h"
#include "src/base/rng.h"

/* How its signals come; all zero: none do. */
struct pmu_delivery {
	bool sigtrap;      /* synchronous SIGTRAP, with ... */
	uint64_t sig_data; /* ... this | index of the event */
	int signal;        /* or queued: this one, to thread ... */
	pid_t tid;
	int fd_base; /* descriptors not below this */
};

/* What the events of a role had counted, in what time of how much. */
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
	/* Samples of the program's own code; those with a memory access. */
	uint64_t user_samples, memory_samples;
	struct pmu_progress progress[PMU_COUNTS + 1]; /* by role */
	double accesses;                              /* up to then */
};

/* A sample that is a memory access of the program. */
struct pmu_sample {
	enum pmu_role role;
	struct perf_sample fields;
	struct perf_memory memory;
};

struct pmu_sink {
	void (*sample)(void *ctx, const struct pmu_sample *s);
	/* @n times @cause. */
	void (*lost)(void *ctx, enum loss_cause cause, uint64_t n);
};

/* What pmu_thread_open fell over. */
struct pmu_failure {
	uint32_t event;
	bool ring; /* it was the ring, not the event */
};

/*
 * Returns 0 or -errno, then with *@at, unless NULL, filled in and nothing
 * open.
 */
int pmu_thread_open(struct pmu_thread *t, const struct perf_kernel *kernel,
		    const struct pmu_plan *plan, const struct pmu_delivery *how,
		    struct rng *rng, struct pmu_failure *at);

/* Closes only what is still our event: the program may have closed it. */
void pmu_thread_close(struct pmu_thread *t);

void pmu_thread_pause(struct pmu_thread *t);
void pmu_thread_resume(struct pmu_thread *t);
/* On, from another thread: without new intervals. */
void pmu_thread_switch_on(struct pmu_thread *t);

void pmu_thread_drain(struct pmu_thread *t, const struct pmu_sink *sink,
		      void *ctx);

/* Is @fd one of its events'? */
bool pmu_thread_has(const struct pmu_thread *t, int fd);

/*
 * What the events counted in all since they were opened: free-running, scaled
 * by the time each was on a counter.
 */
struct pmu_counts {
	uint64_t loads, stores; /* of events that count all */
	uint64_t ops;           /* retired, 0 if nothing counts them */
	bool scaled;            /* some event was off for some time */
	bool never;             /* one was never on a counter */
};
void pmu_thread_counts(const struct pmu_thread *t, struct pmu_counts *c);

/*
 * How many accesses of memory the thread has made by now, for differences: what
 * was counted since the last call is added, scaled if an event was off in
 * between. Of IBS it is ops, times the share of accesses in the samples so far.
 * To be called while the events are off. False if nothing counts one by one.
 */
bool pmu_thread_accesses(struct pmu_thread *t, uint64_t *accesses);

#endif
