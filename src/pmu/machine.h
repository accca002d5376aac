/* SPDX-License-Identifier: MIT */
/*
 * machine - the processor, and the PMUs that the kernel lists
 *
 * Context: set-up, all of it.
 */
#ifndef COMDET_PMU_MACHINE_H
#define COMDET_PMU_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "kernel.h"

/* The machine, as far as it is known without opening an event. */
struct pmu_machine {
	enum pmu_vendor vendor;
	uint32_t family, model;
	bool virtual_machine;
	uint32_t ibs_caps;             /* CPUID 8000001B EAX, 0: no IBS */
	const struct pmu_model *known; /* NULL: not in the tables */
};

void pmu_machine_look(struct pmu_machine *m, const struct perf_kernel *kernel);

/*
 * The number in the file @name in the directory of PMU @pmu in sysfs, or
 * -ENOENT.
 */
long pmu_sysfs_number(const struct perf_kernel *kernel, const char *pmu,
		      const char *name);

/* True if there is such a file. */
bool pmu_sysfs_has(const struct perf_kernel *kernel, const char *pmu,
		   const char *name);

#endif
