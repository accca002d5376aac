/* SPDX-License-Identifier: MIT */
/*
 * pmu_probe - can hardware events be sampled here, and if not, why
 */
#ifndef COMDET_ANALYSIS_DOCTOR_PMU_PROBE_H
#define COMDET_ANALYSIS_DOCTOR_PMU_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/pmu/plan.h"

/* The machine that is asked; a test puts one of its own there. */
extern const struct perf_kernel *pmu_probe_kernel;

/*
 * Open and try the events of @source as the preload library does. What they
 * are, or why they cannot be had and what to do, goes to @reason and @advice.
 */
bool pmu_probe(enum pmu_source source, char *reason, size_t reason_size,
	       char *advice, size_t advice_size);

#endif
