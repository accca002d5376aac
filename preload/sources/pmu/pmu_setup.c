/* SPDX-License-Identifier: MIT */
/*
 * pmu_setup - which hardware source there is, if any
 */
#include <errno.h>
#include <stdio.h>

#include "pmu.h"
#include "preload/core/state.h"
#include "preload/sources/thread_reuse.h"
#include "src/pmu/errors.h"
#include "src/pmu/kernel.h"
#include "src/pmu/machine.h"
#include "src/pmu/thread.h"
#include "src/base/text.h"

static struct pmu_plan plan;

const struct pmu_plan *pmu_source_chosen(void)
{
	return &plan;
}

/* What a machine without PMU is told by: three files that are not there. */
static bool has_pmu(const struct perf_kernel *k)
{
	return pmu_sysfs_has(k, "cpu_core", "type") ||
	       pmu_sysfs_has(k, "cpu", "type") ||
	       pmu_sysfs_has(k, "ibs_op", "type");
}

int pmu_source_plan(char *why, size_t size)
{
	const struct config *c = &runtime.config;
	const struct perf_kernel *k = &perf_kernel_linux;
	const struct pmu_wish wish = {
		.period = c->period,
		.ldlat = c->ldlat,
		.sigtrap = runtime.delivery == DELIVERY_SIGTRAP,
	};
	enum pmu_source source = PMU_PEBS;
	struct pmu_machine machine;
	struct pmu_refusal no;
	char advice[8];
	struct text t;

	text_begin(&t, why, size);
	if (c->source == SOURCE_CLOCK)
		return -ENODEV;
	/* CPUID is dear in a virtual machine, so the files come first. */
	if (!has_pmu(k)) {
		text_put(&t, "no core PMU and no ibs_op here");
		return -ENODEV;
	}
	pmu_machine_look(&machine, k);
	if (c->source == SOURCE_IBS ||
	    (c->source == SOURCE_AUTO && machine.vendor == PMU_VENDOR_AMD))
		source = PMU_IBS;
	if (pmu_plan_make(&plan, k, source, &wish, &no)) {
		text_put(&t, source == PMU_PEBS ? "no pebs: " : "no ibs: ");
		pmu_errors_explain(&no, t.at, t.room, advice, sizeof(advice));
		return -ENODEV;
	}
	pmu_plan_describe(&plan, why, size);
	return 0;
}

int thread_reuse_possible(char *why, size_t size)
{
	bool clock = !runtime.hardware;

	/* Accesses were asked for, and the clock has only time. */
	if (clock && runtime.config.source != SOURCE_AUTO &&
	    runtime.config.source != SOURCE_CLOCK) {
		snprintf(why, size,
			 "-m reuse by accesses needs pebs, ibs, instr or emu, "
			 "and there is neither pebs nor ibs: %.100s; clock "
			 "measures it in ns",
			 runtime.hardware_why);
		return -ENODEV;
	}
	if (!clock && !pmu_plan_counts(pmu_source_chosen())) {
		snprintf(why, size,
			 "-m reuse needs events that count every access, which "
			 "this processor, or --ldlat, does not have");
		return -ENODEV;
	}
	/* A queued signal comes late, and once for each time it is armed. */
	if (runtime.delivery != DELIVERY_SIGTRAP) {
		snprintf(why, size,
			 "-m reuse needs synchronous signals: Linux 5.19");
		return -ENODEV;
	}
	if (!runtime.registers) {
		snprintf(why, size, "-m reuse needs debug registers: %.120s",
			 runtime.store.header->registers_reason);
		return -ENODEV;
	}
	return 0;
}
