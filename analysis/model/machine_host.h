/* SPDX-License-Identifier: MIT */
/*
 * machine_host - this machine as a machine file
 */
#ifndef COMDET_ANALYSIS_MODEL_MACHINE_HOST_H
#define COMDET_ANALYSIS_MODEL_MACHINE_HOST_H

#include "machine.h"
#include "src/pmu/events.h"

/*
 * Sizes and ways of the caches and the number of cores from hwloc, the
 * frequency from CPUID or /proc/cpuinfo; all else is that of machine_like().
 * Dies if the result is no machine that can be simulated.
 */
void machine_host(struct machine *m);

/*
 * The machine of machine_shipped.h whose core is most like that of a processor,
 * which is NULL if it is not known; golden-c3 if none is like it.
 */
const char *machine_like(const struct pmu_model *known);

#endif
