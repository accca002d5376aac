/* SPDX-License-Identifier: MIT */
/*
 * plan_describe - describe a plan in one line
 */
#include "plan.h"
#include "src/base/text.h"

void pmu_plan_describe(const struct pmu_plan *plan, char *text, size_t size)
{
	bool first = true;
	struct text t;

	text_begin(&t, text, size);
	text_put(&t, plan->model[0] ? plan->model : "unknown model");
	text_put(&t, ": ");
	for (uint32_t i = 0; i < plan->events; i++) {
		const struct pmu_event *e = &plan->event[i];

		if (e->role == PMU_AUX || e->role == PMU_COUNTS)
			continue;
		text_put(&t, first ? "" : ", ");
		text_put(&t, e->name);
		first = false;
	}
	text_put(&t, " about every ");
	text_number(&t, plan->period);
	if (plan->event[0].attr.precise_ip) {
		text_put(&t, ", precise_ip ");
		text_number(&t, plan->event[0].attr.precise_ip);
	}
	if (plan->takes_turns)
		text_put(&t, ", taking turns on a counter");
}
