/* SPDX-License-Identifier: MIT */
/*
 * take - the events of a plan: their intervals, and what a sample of one says
 *
 * Context: any, handler included; no allocation.
 */
#ifndef COMDET_PMU_TAKE_H
#define COMDET_PMU_TAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan.h"
#include "sample.h"
#include "src/base/loss.h"
#include "src/base/rng.h"

/* A sample, which is a memory access of the program if all went well. */
struct pmu_sample {
	enum pmu_role role;
	struct perf_sample fields;
	struct perf_memory memory;
};

/* How far a record was a sample of use, from worst to best. */
enum pmu_take {
	PMU_TAKE_BROKEN,    /* it cannot be decoded */
	PMU_TAKE_ELSEWHERE, /* not in the program's own code */
	PMU_TAKE_NO_ACCESS, /* most ops are none */
	PMU_TAKE_UNUSABLE,  /* an access without instruction or address */
	PMU_TAKE_ACCESS,
};

/* True if the event samples. */
bool pmu_event_samples(const struct pmu_event *e);

/* An interval, evenly from 3/4 to 5/4 of the period, which is its mean. */
uint64_t pmu_interval_draw(const struct pmu_plan *plan, struct rng *rng);

/*
 * Decode @record, a PERF_RECORD_SAMPLE of @bytes bytes of the plan's event
 * @event, into @s. *@cause is why it is lost, if it is no PMU_TAKE_ACCESS.
 */
enum pmu_take pmu_take(const struct pmu_plan *plan, uint32_t event,
		       const void *record, size_t bytes, struct pmu_sample *s,
		       enum loss_cause *cause);

#endif
