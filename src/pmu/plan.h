/* SPDX-License-Identifier: MIT */
/*
 * plan - which events to open on this machine, or why none can be opened
 *
 * pmu_plan_make looks at the processor and its PMUs, opens the events on the
 * calling thread to see whether the kernel allows it, samples a loop of its own
 * to see whether samples are delivered, and closes them. Each thread then opens
 * the events of the plan (thread.h).
 *
 * If there is no plan, struct pmu_refusal holds the cause, and
 * pmu_errors_explain puts it into words, with advice.
 *
 * Groups. Loads and stores are one group if the counters allow it, so that one
 * call switches both. Sandy Bridge has one counter for the two: there they take
 * turns, and counts are scaled by the time that each was on.
 *
 * Context: set-up, all of it.
 */
#ifndef COMDET_PMU_PLAN_H
#define COMDET_PMU_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "asked.h"
#include "ibs.h"
#include "kernel.h"
#include "machine.h"
#include "memory.h"

enum {
	PMU_EVENTS_MAX = 10, /* three groups of three and one counting event */
	PMU_PERIOD_DEFAULT = 500000, /* loads and stores; ops for IBS */
	PMU_PERIOD_MIN = 1000,
	PMU_PERIOD_MAX = 1000 * 1000 * 1000,
	PMU_NAME_BYTES = 64,
};

enum pmu_source {
	PMU_PEBS,
	PMU_IBS
};

enum pmu_role {
	PMU_LOADS,  /* samples loads */
	PMU_STORES, /* samples stores */
	PMU_OPS,    /* samples all ops */
	PMU_AUX,    /* only leads a group */
	PMU_COUNTS, /* counts retired ops */
};

struct pmu_event {
	struct perf_event_attr attr; /* without sigtrap and sig_data */
	enum pmu_role role;
	enum perf_kind kind;
	uint32_t leader; /* index of its group's leader, perhaps its own */
	bool partial;    /* counts only some of the accesses */
	bool uops;       /* counts uops, not instructions */
	char name[PMU_NAME_BYTES];
};

/* Constant once made, shared by all threads. */
struct pmu_plan {
	enum pmu_source source;
	uint32_t events;
	struct pmu_event event[PMU_EVENTS_MAX];
	struct ibs_cpu cpu;
	/* In events (pebs) or ops (ibs); each interval is drawn around it. */
	uint64_t period;
	uint64_t period_min, period_max; /* of an interval */
	uint32_t period_step;            /* intervals are multiples of it */
	bool kernel_too;  /* the kernel is sampled too; we drop those samples */
	bool takes_turns; /* loads and stores share a counter */
	char model[28], core[28];
};

struct pmu_wish {
	uint64_t period; /* 0: PMU_PERIOD_DEFAULT */
	uint32_t ldlat;  /* only loads of at least so many cycles; 0: all */
	bool sigtrap;    /* deliver samples by synchronous SIGTRAP */
	bool outside;    /* deliver them to another process, by no signal */
	const struct pmu_asked *asked; /* pebs: these events; NULL: none */
};

enum pmu_cause {
	PMU_FINE,
	PMU_OTHER_VENDOR,  /* the source is for another vendor's processors */
	PMU_UNKNOWN_MODEL, /* detail: family << 16 | model */
	PMU_HALF_ASKED,    /* loads or stores of an unknown processor only */
	PMU_UNFIT,         /* no data addresses; see the core's why_not */
	PMU_NO_PMU,        /* the kernel lists no such PMU */
	PMU_NOT_PRECISE,   /* the PMU has no precise samples */
	PMU_CYCLES_ONLY,   /* IBS that cannot count ops */
	PMU_NO_THREADS,    /* IBS of whole processors, not of a thread */
	PMU_INTERRUPTS,    /* its signals would interrupt system calls */
	PMU_HANGS,         /* a killed process could hang */
	PMU_REFUSED,       /* perf_event_open: error */
	PMU_NO_RING,       /* mmap of the ring: error */
	PMU_SILENT,        /* nothing was sampled */
	PMU_STARVED,       /* the event never was on a counter */
};

struct pmu_refusal {
	enum pmu_source source;
	enum pmu_cause cause;
	int error; /* errno, positive */
	uint32_t detail;
	int paranoid; /* kernel.perf_event_paranoid, -100: unknown */
	bool seccomp; /* a filter is in force */
	bool virtual_machine;
	bool needs_kernel; /* IBS without a filter: paranoid 1 or less */
	char release[PMU_RELEASE_BYTES]; /* of Linux */
	bool watchdog;                   /* the NMI watchdog has a counter */
	char event[PMU_NAME_BYTES];
	char why_not[80];
};

/*
 * Make the plan for @source. Returns 0, or -ENOTSUP with the cause in *@no.
 */
int pmu_plan_make(struct pmu_plan *plan, const struct perf_kernel *kernel,
		  enum pmu_source source, const struct pmu_wish *wish,
		  struct pmu_refusal *no);

/* Fill in permissions, and whether the NMI watchdog uses a counter. */
void pmu_refusal_begin(struct pmu_refusal *no,
		       const struct perf_kernel *kernel);

/* Describe the plan: "MODEL: X, Y about every 500000, precise_ip 3". */
void pmu_plan_describe(const struct pmu_plan *plan, char *text, size_t size);

/*
 * True if the plan has events that count every access, as pmu_thread_accesses
 * needs them.
 */
bool pmu_plan_counts(const struct pmu_plan *plan);

#endif
