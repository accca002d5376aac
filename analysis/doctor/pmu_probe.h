/* SPDX-License-Identifier: MIT */
/*
 * pmu_probe - find out whether hardware events can be sampled here
 */
#ifndef COMDET_ANALYSIS_DOCTOR_PMU_PROBE_H
#define COMDET_ANALYSIS_DOCTOR_PMU_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "src/pmu/plan.h"

/* The kernel to ask; tests replace it. */
extern const struct perf_kernel *pmu_probe_kernel;

/*
 * Open and try the events of @source as the preload library does: those of
 * COMDET_EVENT, or of libpfm4 on a processor that our table lacks. True if that
 * works, with a description of the events in @reason; else @reason says why not
 * and @advice what to do.
 */
bool pmu_probe(enum pmu_source source, char *reason, size_t reason_size,
	       char *advice, size_t advice_size);

/*
 * What COMDET_EVENT asks for, else what libpfm4 knows of a processor that our
 * table lacks. True if that is anything.
 */
bool pmu_probe_asked(struct pmu_asked *asked);

#endif
