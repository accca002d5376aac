/* SPDX-License-Identifier: MIT */
/*
 * pmu_probe - find out whether hardware events can be sampled here
 */
#include <errno.h>
#include <stdlib.h>

#include "pmu_probe.h"
#include "analysis/events/named_events.h"
#include "src/pmu/errors.h"
#include "src/pmu/kernel.h"
#include "src/pmu/machine.h"

const struct perf_kernel *pmu_probe_kernel = &perf_kernel_linux;

bool pmu_probe_asked(struct pmu_asked *asked)
{
	struct pmu_machine machine;

	if (!pmu_asked_read(asked, getenv("COMDET_EVENT")) &&
	    pmu_asked_any(asked))
		return true;
	pmu_machine_look(&machine, pmu_probe_kernel);
	return machine.vendor == PMU_VENDOR_INTEL && !machine.known &&
	       named_events_all(asked);
}

bool pmu_probe(enum pmu_source source, char *reason, size_t reason_size,
	       char *advice, size_t advice_size)
{
	/*
	 * Ask for synchronous signals first. A kernel without them refuses, and
	 * the source works with queued signals too.
	 */
	struct pmu_asked asked;
	struct pmu_wish wish = { .sigtrap = true, .asked = &asked };
	struct pmu_refusal no;
	struct pmu_plan plan;

	pmu_probe_asked(&asked);
	if (pmu_plan_make(&plan, pmu_probe_kernel, source, &wish, &no) &&
	    no.error == EINVAL) {
		wish.sigtrap = false;
		pmu_plan_make(&plan, pmu_probe_kernel, source, &wish, &no);
	}
	if (no.cause != PMU_FINE) {
		pmu_errors_explain(&no, reason, reason_size, advice,
				   advice_size);
		return false;
	}
	pmu_plan_describe(&plan, reason, reason_size);
	if (advice_size)
		*advice = '\0';
	return true;
}
