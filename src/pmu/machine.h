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

enum {
	PMU_RELEASE_BYTES = 32
};

/* A version of Linux, for comparisons. */
#define PMU_LINUX(major, minor, patch)                                         \
	((uint32_t)(major) << 16 | (uint32_t)(minor) << 8 | (uint32_t)(patch))

/* The machine, as far as it is known without opening an event. */
struct pmu_machine {
	enum pmu_vendor vendor;
	uint32_t family, model;
	bool virtual_machine;
	uint32_t ibs_caps;               /* CPUID 8000001B EAX, 0: no IBS */
	const struct pmu_model *known;   /* NULL: not in the tables */
	uint32_t linux_version;          /* PMU_LINUX(...), 0: not known */
	char release[PMU_RELEASE_BYTES]; /* of Linux, as uname prints it */
};

void pmu_machine_look(struct pmu_machine *m, const struct perf_kernel *kernel);

/*
 * The version of Linux as PMU_LINUX(...), 0 if it is not known. Puts its
 * release into @release, unless that is NULL.
 */
uint32_t pmu_linux_version(const struct perf_kernel *kernel,
			   char release[PMU_RELEASE_BYTES]);

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
