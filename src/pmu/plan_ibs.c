/* SPDX-License-Identifier: MIT */
/*
 * plan_ibs - the plan for IBS, and the kernels on which it would do harm
 */
#include <errno.h>

#include "plan_ibs.h"
#include "plan_try.h"

enum {
	IBS_STEP = 16,
	IBS_PERIOD_MIN = 0x90, /* on newer processors; older ones take less */
	IBS_CNT_CTL = 1 << 19, /* count ops */
	IBS_SWFILT = 1,        /* in config2 */
	RETIRED_OPS = 0xc1,    /* PMCx0C1 */
	IBS_PERIOD_EXT = 0x7fffff0,
	IBS_PERIOD_OLD = 0xffff0,
};

/*
 * True if Linux frees an event whose signal has not been sent yet (commit
 * 56799bc03565). Otherwise a process that is killed while its event samples the
 * kernel waits for that signal for ever.
 */
static bool frees_pending_signals(uint32_t version)
{
	return version >= PMU_LINUX(6, 14, 3) ||
	       (version >= PMU_LINUX(6, 13, 12) &&
		version < PMU_LINUX(6, 14, 0)) ||
	       (version >= PMU_LINUX(6, 12, 24) &&
		version < PMU_LINUX(6, 13, 0));
}

/*
 * Without the driver's filter IBS samples the kernel too, so its signals arrive
 * in system calls. Before Linux 6.11, and with queued signals, they end the
 * calls with EINTR. From 6.11 on synchronous signals wait for the return to the
 * program.
 */
static enum pmu_cause harm_without_filter(const struct pmu_machine *machine,
					  bool sigtrap)
{
	if (!sigtrap || machine->linux_version < PMU_LINUX(6, 11, 0))
		return PMU_INTERRUPTS;
	if (!frees_pending_signals(machine->linux_version))
		return PMU_HANGS;
	return PMU_FINE;
}

/* Returns 0 if all is well. */
static int refuse_ibs(const struct pmu_plan *plan,
		      const struct perf_kernel *kernel,
		      const struct pmu_machine *machine, enum pmu_cause harm,
		      bool sigtrap, struct rng *rng, struct pmu_refusal *no)
{
	/*
	 * Before 6.2 (commit 30093056f7b2) nothing but a whole processor can be
	 * sampled; some vendors' kernels have the commit, so try.
	 */
	if (machine->linux_version < PMU_LINUX(6, 2, 0) &&
	    plan_try_open(plan, kernel, sigtrap, rng, no))
		harm = PMU_NO_THREADS;
	if (harm == PMU_FINE)
		return 0;
	plan_try_refuse(no, harm, 0, "ibs_op");
	return -ENOTSUP;
}

int plan_ibs(struct pmu_plan *plan, const struct perf_kernel *kernel,
	     const struct pmu_machine *machine, const struct pmu_wish *wish,
	     struct rng *rng, struct pmu_refusal *no)
{
	bool filter = pmu_sysfs_has(kernel, "ibs_op", "format/swfilt");
	long type = pmu_sysfs_number(kernel, "ibs_op", "type");
	enum pmu_cause harm;
	struct pmu_event *e;
	int r;

	if (machine->vendor != PMU_VENDOR_AMD) {
		plan_try_refuse(no, PMU_OTHER_VENDOR, 0, "");
		return -ENOTSUP;
	}
	if (machine->known)
		plan_try_name(plan, machine->known);
	if (type < 0) {
		plan_try_refuse(no, PMU_NO_PMU, 0, "ibs_op");
		return -ENOTSUP;
	}
	if (!pmu_sysfs_has(kernel, "ibs_op", "format/cnt_ctl") &&
	    !(machine->ibs_caps & IBS_CAPS_OP_COUNT)) {
		plan_try_refuse(no, PMU_CYCLES_ONLY, 0, "ibs_op");
		return -ENOTSUP;
	}
	plan->cpu = (struct ibs_cpu){ machine->family, machine->model };
	/* The kernel would silently split a longer interval. */
	plan_try_limit(plan, IBS_PERIOD_MIN,
		       machine->ibs_caps & IBS_CAPS_COUNT_EXT ? IBS_PERIOD_EXT
							      : IBS_PERIOD_OLD,
		       IBS_STEP);
	plan->kernel_too = no->needs_kernel = !filter;
	e = plan_try_event(plan, PMU_OPS, PERF_KIND_IBS_OP, "ibs_op",
			   "cnt_ctl");
	e->attr.type = type;
	e->attr.config = IBS_CNT_CTL;
	e->attr.config2 = filter ? IBS_SWFILT : 0;
	/* Without the filter the driver refuses to exclude the kernel. */
	e->attr.exclude_kernel = filter;
	e->attr.exclude_hv = 0;
	e->attr.sample_type |= PERF_SAMPLE_RAW;
	e = plan_try_event(plan, PMU_COUNTS, PERF_KIND_UNKNOWN, "cpu",
			   "ex_ret_ops");
	e->attr.type = PERF_TYPE_RAW;
	e->attr.config = RETIRED_OPS;
	harm = filter || wish->outside
		       ? PMU_FINE
		       : harm_without_filter(machine, wish->sigtrap);
	r = refuse_ibs(plan, kernel, machine, harm, wish->sigtrap, rng, no);
	if (r)
		return r;
	r = plan_try_open(plan, kernel, wish->sigtrap, rng, no);
	return r ? r : plan_try_samples(plan, kernel, rng, no);
}
