/* SPDX-License-Identifier: MIT */
/*
 * machine_host - this machine as a machine file
 */
#ifndef COMDET_ANALYSIS_MODEL_MACHINE_HOST_H
#define COMDET_ANALYSIS_MODEL_MACHINE_HOST_H

#include "machine.h"

/*
 * Sizes and ways of the caches and the number of cores from hwloc, the
 * frequency from CPUID or /proc/cpuinfo; all else is that of golden-c3. Dies if
 * the result is no machine that can be simulated.
 */
void machine_host(struct machine *m);

#endif
