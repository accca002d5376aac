/* SPDX-License-Identifier: MIT */
/*
 * plan_asked - the plan for events that the user names (COMDET_EVENT)
 */
#include <errno.h>
#include <string.h>

#include "plan_asked.h"
#include "plan_try.h"
#include "src/base/text.h"

enum {
	LOAD_LATENCY = 0x01cd, /* opens beside mem-loads-aux where that is */
	MEM_LOADS_AUX = 0x8203,
	LDLAT_LEAST = 3,
};

static void take_code(struct pmu_asked_event *e, const struct pmu_code *code,
		      uint64_t config1)
{
	struct text t;

	if (e->config || !code->config)
		return;
	e->config = code->config;
	e->config1 = config1;
	text_begin(&t, e->name, sizeof(e->name));
	text_put(&t, code->name);
}

/* Fill in from the table what is not asked for. */
static void fill(struct pmu_asked *want, const struct pmu_model *m)
{
	const struct pmu_core_events *c;

	if (!m)
		return;
	c = pmu_core_events(m->core[0]);
	take_code(&want->event[PMU_ASKED_LOADS], &c->loads, 0);
	take_code(&want->event[PMU_ASKED_LOADS], &c->slow_loads, LDLAT_LEAST);
	take_code(&want->event[PMU_ASKED_STORES], &c->stores, 0);
	take_code(&want->event[PMU_ASKED_STORES], &c->slow_stores, 0);
}

static void add(struct pmu_plan *plan, enum pmu_role role, enum perf_kind kind,
		const char *pmu, uint32_t type,
		const struct pmu_asked_event *asked, uint32_t precise)
{
	struct pmu_event *e =
		plan_try_event(plan, role, kind, pmu,
			       asked->name[0] ? asked->name : "no name");

	e->attr.type = type;
	e->attr.config = asked->config;
	e->attr.config1 = asked->config1;
	e->attr.precise_ip = precise;
	e->partial = !pmu_asked_counts_all(asked);
}

static void make(struct pmu_plan *plan, const struct perf_kernel *kernel,
		 const struct pmu_asked *want, const char *pmu,
		 uint32_t precise, bool turns)
{
	static const struct pmu_asked_event aux = { MEM_LOADS_AUX, 0,
						    "mem-loads-aux" };
	const struct pmu_asked_event *loads = &want->event[PMU_ASKED_LOADS];
	uint32_t type = plan_try_type(kernel, pmu);

	plan->events = 0;
	plan->takes_turns = turns;
	if ((loads->config & 0xffff) == LOAD_LATENCY &&
	    pmu_sysfs_has(kernel, pmu, "events/mem-loads-aux"))
		add(plan, PMU_AUX, PERF_KIND_UNKNOWN, pmu, type, &aux, 0);
	add(plan, PMU_LOADS, PERF_KIND_LOADS, pmu, type, loads, precise);
	plan->event[plan->events - 1].leader = 0;
	add(plan, PMU_STORES, PERF_KIND_STORES, pmu, type,
	    &want->event[PMU_ASKED_STORES], precise);
	if (!turns)
		plan->event[plan->events - 1].leader = 0;
}

static int try_all(struct pmu_plan *plan, const struct perf_kernel *kernel,
		   const struct pmu_asked *want, const char *pmu, bool sigtrap,
		   struct rng *rng, struct pmu_refusal *no)
{
	uint32_t best = plan_try_precision(kernel, pmu);
	int r = -ENOTSUP;

	if (best < PLAN_TRY_PRECISE_MIN) {
		plan_try_refuse(no, PMU_NOT_PRECISE, 0, pmu);
		return -ENOTSUP;
	}
	for (int turns = 0; turns < 2; turns++)
		for (uint32_t p = best; p >= PLAN_TRY_PRECISE_MIN; p--) {
			make(plan, kernel, want, pmu, p, turns);
			r = plan_try_open(plan, kernel, sigtrap, rng, no);
			if (!r || plan_try_is_final(r))
				return r;
		}
	return r;
}

static void name_unknown(struct pmu_plan *plan,
			 const struct pmu_machine *machine)
{
	struct text t;

	text_begin(&t, plan->model, sizeof(plan->model));
	text_put(&t, "family ");
	text_number(&t, machine->family);
	text_put(&t, ", model ");
	text_hex(&t, machine->model);
}

int plan_asked(struct pmu_plan *plan, const struct perf_kernel *kernel,
	       const struct pmu_machine *machine, const struct pmu_wish *wish,
	       struct rng *rng, struct pmu_refusal *no)
{
	const char *pmu =
		pmu_sysfs_has(kernel, "cpu_core", "type") ? "cpu_core" : "cpu";
	struct pmu_asked want = *wish->asked;
	int r;

	fill(&want, machine->known);
	for (int i = 0; i < PMU_ASKED_KINDS; i++) {
		if (want.event[i].config)
			continue;
		plan_try_refuse(no, PMU_HALF_ASKED, 0,
				i == PMU_ASKED_LOADS ? "loads" : "stores");
		return -ENOTSUP;
	}
	if (machine->known)
		plan_try_name(plan, machine->known);
	else
		name_unknown(plan, machine);
	if (!pmu_sysfs_has(kernel, pmu, "type")) {
		plan_try_refuse(no, PMU_NO_PMU, 0, "cpu");
		return -ENOTSUP;
	}
	plan_try_limit(plan, 1, PMU_PERIOD_MAX, 1);
	r = try_all(plan, kernel, &want, pmu, wish->sigtrap, rng, no);
	return r ? r : plan_try_samples(plan, kernel, rng, no);
}
