/* SPDX-License-Identifier: MIT */
/*
 * hardware - the events of PEBS or IBS of all watched threads, and their rings
 *
 * As with the clock (clocks.h), a thread that exists gets a set of events on
 * each processor, and what it makes inherits them. A sample is an access, with
 * its instruction and address: no memory is needed to know it.
 *
 * The interval is drawn for each event, and stays; what inherits an event has
 * its interval too.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_HARDWARE_H
#define COMDET_ANALYSIS_OUTSIDE_HARDWARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "event.h"
#include "rings.h"
#include "src/base/rng.h"
#include "src/pmu/kernel.h"
#include "src/pmu/plan.h"

enum {
	HARDWARE_TICK_NS = 100 * 1000 * 1000, /* of the clock beside it */
	HARDWARE_GAP_NS = 200 * 1000, /* between samples, until measured */
};

struct hardware_event {
	uint64_t id;
	uint32_t set;
	uint32_t index; /* in the plan */
	int fd;
};

struct hardware {
	const struct pmu_plan *plan;       /* NULL: the clock is the source */
	const struct perf_event_attr *any; /* of one that samples */
	const struct perf_kernel *kernel;
	struct rings *rings;
	struct outside_ring *ring; /* by processor */
	size_t *bytes;             /* of its mapping */
	int *fd;                   /* of the rings, -1: no such processor */
	int cpus;
	enum event_heirs heirs;
	bool on_exec;
	struct rng rng;
	struct hardware_event *event; /* by rising id */
	size_t events, room;
	uint64_t gap_ns; /* mean time of a thread between samples */
};

/*
 * Plan source @source for watching others. Returns NULL, or a malloc'ed line
 * with cause and cure.
 */
char *hardware_plan(struct pmu_plan *plan, const struct perf_kernel *kernel,
		    enum pmu_source source, const struct pmu_wish *wish);

/*
 * Make the rings for @cpus processors. @poll is an epoll descriptor, or -1.
 * Returns 0 or -errno.
 */
int hardware_init(struct hardware *h, const struct perf_kernel *kernel,
		  const struct pmu_plan *plan, struct rings *rings, int poll,
		  int cpus, enum event_heirs heirs, bool on_exec,
		  uint64_t seed);

/*
 * Open a set for thread @tid, number @set, not 0. Returns 0 or -errno, and then
 * there is none.
 */
int hardware_attach(struct hardware *h, pid_t tid, uint32_t set);

/* Close the set @set, also in the threads that have inherited it. */
void hardware_close(struct hardware *h, uint32_t set);

/* A thread had @ns between two samples, 0: not known. */
void hardware_gap(struct hardware *h, uint64_t ns);

void hardware_release(struct hardware *h);

#endif
