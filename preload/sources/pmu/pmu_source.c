/* SPDX-License-Identifier: MIT */
/*
 * pmu_source - the sources pebs and ibs: samples of hardware events
 */
#include <errno.h>
#include <stdio.h>

#include "pmu_samples.h"
#include "pmu_source.h"
#include "preload/sources/sample.h"
#include "preload/sources/thread_reuse.h"
#include "src/pmu/errors.h"
#include "src/pmu/kernel.h"
#include "src/pmu/machine.h"
#include "src/pmu/thread.h"
#include "src/base/text.h"

enum {
	TICK_NS = 100 * 1000 * 1000, /* of the slow clock */
	HANDLER_MAX_NS = 1000 * 1000,
};

/* True if the machine may have a PMU: three files that others do not have. */
static bool may_have_pmu(const struct perf_kernel *k)
{
	return pmu_sysfs_has(k, "cpu_core", "type") ||
	       pmu_sysfs_has(k, "cpu", "type") ||
	       pmu_sysfs_has(k, "ibs_op", "type");
}

/* Plan pebs or ibs, as the configuration asks. Returns 0 or -ENODEV. */
static int make_plan(char *why, size_t size)
{
	const struct config *c = &runtime.config;
	const struct perf_kernel *k = &perf_kernel_linux;
	const struct pmu_wish wish = {
		.period = c->period,
		.ldlat = c->ldlat,
		.sigtrap = runtime.delivery == DELIVERY_SIGTRAP,
		.asked = &c->asked,
	};
	enum pmu_source source = PMU_PEBS;
	struct pmu_machine machine;
	struct pmu_refusal no;
	char advice[8];
	struct text t;

	text_begin(&t, why, size);
	if (c->source == SOURCE_CLOCK)
		return -ENODEV;
	/* CPUID takes long in a virtual machine, so the files come first. */
	if (!may_have_pmu(k)) {
		text_put(&t, "no core PMU and no ibs_op here");
		return -ENODEV;
	}
	pmu_machine_look(&machine, k);
	if (c->source == SOURCE_IBS ||
	    (c->source == SOURCE_AUTO && machine.vendor == PMU_VENDOR_AMD))
		source = PMU_IBS;
	if (pmu_plan_make(&pmu_plan, k, source, &wish, &no)) {
		text_put(&t, source == PMU_PEBS ? "no pebs: " : "no ibs: ");
		pmu_errors_explain(&no, t.at, t.room, advice, sizeof(advice));
		return -ENODEV;
	}
	pmu_plan_describe(&pmu_plan, why, size);
	return 0;
}

static int choose(char *why, size_t size)
{
	return !make_plan(why, size);
}

static void set_period(void)
{
	clock_set_period(TICK_NS);
	runtime.handler_max_ns = HANDLER_MAX_NS;
	comm_set_expiry(&runtime.comm,
			PMU_GAP_FIRST_NS); /* until it has been measured */
}

static int open(char *why, size_t size)
{
	int r = clock_open(why, size);

	if (!r)
		pmu_samples_begin(thread_self());
	return r;
}

static void describe(struct cdp_header *h, const char *why)
{
	bool pebs = pmu_plan.source == PMU_PEBS;
	struct text t;

	text_begin(&t, h->source, sizeof(h->source));
	text_put(&t, pebs ? "pebs" : "ibs");
	text_begin(&t, h->source_reason, sizeof(h->source_reason));
	text_put(&t, runtime.source_why);
	text_begin(&t, h->period_unit, sizeof(h->period_unit));
	text_put(&t, pebs ? "events" : "ops");
	h->period = pmu_plan.period;
}

static void thread_begin(struct thread *t)
{
	clock_thread_begin(t);
	pmu_samples_begin(t);
}

static void thread_end(struct thread *t)
{
	clock_thread_end(t);
	pmu_samples_end(t);
}

static int reuse_possible(char *why, size_t size)
{
	struct text t;

	if (pmu_plan_counts(&pmu_plan))
		return 0;
	text_begin(&t, why, size);
	text_put(&t, "-m reuse needs events that count every access, which "
		     "this processor, or --ldlat, does not have");
	return -ENODEV;
}

static const struct source_reuse reuse = {
	.counts_accesses = true,
	.possible = reuse_possible,
	.count = pmu_samples_accesses,
	.pauses = pmu_samples_pauses,
};

const struct source_ops pmu_source = {
	.thread_bytes = sizeof(struct pmu_own),
	.reuse = &reuse,
	.choose = choose,
	.set_period = set_period,
	.open = open,
	.describe = describe,
	.pause = pmu_samples_pause,
	.resume = pmu_samples_resume,
	.was_closed = clock_was_closed,
	.after_fork = pmu_samples_after_fork,
	.thread_begin = thread_begin,
	.thread_end = thread_end,
	.count = pmu_samples_count,
	.enter = pmu_samples_enter,
	.leave = pmu_samples_leave,
	.on_signal = pmu_samples_on_signal,
	.takes_late_traps = thread_reuse_takes_late,
	.skip = pmu_samples_skip,
	.disarm_after_stop = pmu_samples_disarm_after_stop,
	.has_descriptor = pmu_samples_has_descriptor,
	.has_anywhere = pmu_samples_has_anywhere,
	.time = sample_time,
};
