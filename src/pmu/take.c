/* SPDX-License-Identifier: MIT */
/*
 * take - the events of a plan: their intervals, and what a sample of one says
 */
#include <errno.h>

#include "take.h"
#include "src/base/signal_safe.h"

bool pmu_event_samples(const struct pmu_event *e)
{
	return e->role == PMU_LOADS || e->role == PMU_STORES ||
	       e->role == PMU_OPS;
}

uint64_t pmu_interval_draw(const struct pmu_plan *plan, struct rng *rng)
{
	uint64_t steps = plan->period / 4 / plan->period_step;

	return plan->period - steps * plan->period_step +
	       rng_below(rng, 2 * steps + 1) * plan->period_step;
}

/* True if the sample is outside of the program's own code; *@where says where.
 */
static bool is_outside(const struct perf_sample *s, enum loss_cause *where)
{
	uint16_t mode = s->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	*where = mode == PERF_RECORD_MISC_KERNEL ||
				 mode == PERF_RECORD_MISC_HYPERVISOR
			 ? LOSS_IN_KERNEL
			 : LOSS_IN_GUEST;
	return mode != PERF_RECORD_MISC_USER;
}

/* Addresses of the program are in the lower half. */
static bool is_program_address(uint64_t addr)
{
	return addr && !(addr >> 63);
}

enum pmu_take pmu_take(const struct pmu_plan *plan, uint32_t event,
		       const void *record, size_t bytes, struct pmu_sample *s,
		       enum loss_cause *cause)
{
	const struct pmu_event *e = &plan->event[event];
	int fault;

	*cause = LOSS_MALFORMED;
	if (perf_sample_decode(&e->attr, record, bytes, &s->fields))
		return PMU_TAKE_BROKEN;
	s->role = e->role;
	if (is_outside(&s->fields, cause))
		return PMU_TAKE_ELSEWHERE;
	fault = perf_sample_memory(&s->fields, e->kind, &plan->cpu, &s->memory);
	if (fault) {
		*cause = fault == -ENODATA ? LOSS_NOT_MEMORY : LOSS_MALFORMED;
		return PMU_TAKE_NO_ACCESS;
	}
	*cause = LOSS_INEXACT_IP;
	if (!(s->fields.misc & PERF_RECORD_MISC_EXACT_IP))
		return PMU_TAKE_UNUSABLE;
	*cause = LOSS_NO_ADDRESS;
	return is_program_address(s->memory.addr) ? PMU_TAKE_ACCESS
						  : PMU_TAKE_UNUSABLE;
}
