/* SPDX-License-Identifier: MIT */
/*
 * plan_asked - the plan for events that the user names (COMDET_EVENT)
 */
#ifndef COMDET_PMU_PLAN_ASKED_H
#define COMDET_PMU_PLAN_ASKED_H

#include "machine.h"
#include "plan.h"
#include "src/base/rng.h"

/*
 * Make the plan for the events of @wish. What it does not name, loads or
 * stores, is taken from the table. On a hybrid processor the events are those
 * of the P cores. Returns 0 or negative, with the cause in *@no.
 * Context: set-up.
 */
int plan_asked(struct pmu_plan *plan, const struct perf_kernel *kernel,
	       const struct pmu_machine *machine, const struct pmu_wish *wish,
	       struct rng *rng, struct pmu_refusal *no);

#endif
