/* SPDX-License-Identifier: MIT */
/*
 * plan_ibs - the plan for IBS, and the kernels on which it would do harm
 */
#ifndef COMDET_PMU_PLAN_IBS_H
#define COMDET_PMU_PLAN_IBS_H

#include "machine.h"
#include "plan.h"
#include "src/base/rng.h"

/*
 * Make the plan for IBS on @machine. Returns 0 or negative, with the cause in
 * *@no. Context: set-up.
 */
int plan_ibs(struct pmu_plan *plan, const struct perf_kernel *kernel,
	     const struct pmu_machine *machine, const struct pmu_wish *wish,
	     struct rng *rng, struct pmu_refusal *no);

#endif
