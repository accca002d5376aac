/* SPDX-License-Identifier: MIT */
/*
 * events - the events that count the loads and the stores of a processor
 *
 * Two tables: the processors, by family and model, each with its kinds of
 * cores; and the kinds of cores, each with the events whose precise samples
 * carry a data address. Other processors are unknown.
 *
 * We have tables of our own instead of libpfm4 because that library would cost
 * each profiled process a third of a MiB; these few KiB become resident only
 * when they are read. tests/src/pmu/test_pmu_events.c compares them with
 * libpfm4 for each processor that it knows; docs/pmu.md names the source of the
 * others.
 *
 * Strings are arrays: pointers would need relocation, in private memory of each
 * process. Context: any.
 */
#ifndef COMDET_PMU_EVENTS_H
#define COMDET_PMU_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Names as in docs/pmu.md and in the kernel's sources. */
enum pmu_core {
	PMU_CORE_NONE,
	PMU_CORE_OLD, /* no data addresses at all */
	PMU_CORE_NEHALEM,
	PMU_CORE_SANDY_BRIDGE,
	PMU_CORE_HASWELL,
	PMU_CORE_SKYLAKE,
	PMU_CORE_GOLDEN_COVE,
	PMU_CORE_REDWOOD_COVE,
	PMU_CORE_GOLDMONT,
	PMU_CORE_GRACEMONT,
	PMU_CORE_DARKMONT,
	PMU_CORE_AMD,
	PMU_CORE_AMD_OLD, /* before IBS */
	PMU_CORES
};

/* One event; config 0 is no event. */
struct pmu_code {
	char name[44];
	uint32_t config; /* umask << 8 | event */
};

/* The events of one kind of core. */
struct pmu_core_events {
	char name[28];
	/* Every load, every store. */
	struct pmu_code loads, stores;
	/*
	 * Loads of at least a number of cycles (config1), and stores with their
	 * latency. The processor picks some of them, so they count only a part
	 * of all.
	 */
	struct pmu_code slow_loads, slow_stores;
	/* slow_loads open only together with the kernel's auxiliary event. */
	bool needs_aux;
	/*
	 * They count uops, not instructions, which differ where an instruction
	 * makes several accesses.
	 */
	bool uops;
	char why_not[80]; /* why it cannot be used, else empty */
};

enum {
	PMU_KINDS_MAX = 3 /* of cores in one processor */
};

struct pmu_model {
	char name[28];
	uint16_t family, first_model, last_model;
	/* The first is the only kind, or the one that the kernel calls core. */
	uint8_t core[PMU_KINDS_MAX];
};

enum pmu_vendor {
	PMU_VENDOR_OTHER,
	PMU_VENDOR_INTEL,
	PMU_VENDOR_AMD, /* and Hygon */
};

/* The table's entry, NULL if the processor is not known. */
const struct pmu_model *pmu_model_find(enum pmu_vendor vendor, uint32_t family,
				       uint32_t model);

/* The n-th model of all, NULL after the last; for lists and tests. */
const struct pmu_model *pmu_model_at(enum pmu_vendor vendor, uint32_t n);

const struct pmu_core_events *pmu_core_events(enum pmu_core core);

/* True if its loads and stores can be sampled with their data addresses. */
bool pmu_core_is_usable(const struct pmu_core_events *e);

#endif
