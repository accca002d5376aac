/* SPDX-License-Identifier: MIT */
/*
 * plan_try - events of a plan, tried as each thread will open them
 *
 * Only plan.c, plan_asked.c and plan_ibs.c use it. Context: set-up, all of it.
 */
#ifndef COMDET_PMU_PLAN_TRY_H
#define COMDET_PMU_PLAN_TRY_H

#include "plan.h"
#include "src/base/rng.h"

enum {
	PLAN_TRY_PRECISE_MIN =
		2, /* below, samples do not name the instruction */
};

/* True if @error, negative, would be the same for every variant of a plan. */
bool plan_try_is_final(int error);

/* The highest precise_ip that @pmu says it has. */
uint32_t plan_try_precision(const struct perf_kernel *kernel, const char *pmu);

/* The type of the events of @pmu. */
uint32_t plan_try_type(const struct perf_kernel *kernel, const char *pmu);

/*
 * Append the event PMU/NAME/ in a group of its own. Events that sample get all
 * of their attributes but the kind of event.
 */
struct pmu_event *plan_try_event(struct pmu_plan *plan, enum pmu_role role,
				 enum perf_kind kind, const char *pmu,
				 const char *name);

/* There is no plan, for @cause: errno @error of @event. */
void plan_try_refuse(struct pmu_refusal *no, enum pmu_cause cause, int error,
		     const char *event);

/* Name the model and its first kind of cores in the plan. */
void plan_try_name(struct pmu_plan *plan, const struct pmu_model *m);

/*
 * The PMU allows intervals from @low to @high in steps of @step. Keep the
 * period a quarter away from these limits, so that the mean interval is the
 * period.
 */
void plan_try_limit(struct pmu_plan *plan, uint64_t low, uint64_t high,
		    uint32_t step);

/*
 * Open the plan on this thread as each thread will, and close it. Returns 0 or
 * -errno, with the cause in *@no.
 */
int plan_try_open(const struct pmu_plan *plan, const struct perf_kernel *kernel,
		  bool sigtrap, struct rng *rng, struct pmu_refusal *no);

/*
 * Sample a loop of our own: some PMUs open but never deliver a sample. Returns
 * 0 or negative, with the cause in *@no.
 */
int plan_try_samples(const struct pmu_plan *plan,
		     const struct perf_kernel *kernel, struct rng *rng,
		     struct pmu_refusal *no);

#endif
