/* SPDX-License-Identifier: MIT */
/*
 * plan - which events to open on this machine, or why none can be opened
 *
 * Candidates come from the tables and are tried best first: all loads before
 * slow loads only, one group before events that take turns, the highest
 * precision first. (Golden Cove has precision 3 on one counter only; two events
 * of precision 2 are better than two that take turns on it.) A candidate is
 * tried by opening its events as each thread will.
 */
#include <errno.h>
#include <string.h>

#include "machine.h"
#include "plan.h"
#include "plan_asked.h"
#include "plan_ibs.h"
#include "plan_try.h"
#include "src/base/text.h"

enum {
	LDLAT_MIN = 3, /* least that the processors accept */
};

/* One attempt. */
struct variant {
	uint32_t precise;
	bool slow;  /* slow loads, though there is an event for all loads */
	bool turns; /* each event is a group of its own */
};

static void add_core_event(struct pmu_plan *plan, enum pmu_role role,
			   const char *pmu, uint32_t type,
			   const struct pmu_code *code, bool uops,
			   const struct variant *v, uint64_t ldlat)
{
	struct pmu_event *e =
		plan_try_event(plan, role,
			       role == PMU_LOADS    ? PERF_KIND_LOADS
			       : role == PMU_STORES ? PERF_KIND_STORES
						    : PERF_KIND_UNKNOWN,
			       pmu, code->name);

	e->attr.type = type;
	e->attr.config = code->config;
	e->attr.config1 = ldlat;
	e->partial = ldlat;
	e->uops = uops;
	if (role != PMU_AUX)
		e->attr.precise_ip = v->precise;
}

/*
 * Sapphire Rapids and similar processors open slow loads only together with
 * another event. The kernel lists that event on such processors.
 */
static const struct pmu_code aux_event = { "mem-loads-aux", 0x8203 };

static bool wants_aux(const struct perf_kernel *kernel,
		      const struct pmu_core_events *c, const char *pmu)
{
	return c->needs_aux ||
	       pmu_sysfs_has(kernel, pmu, "events/mem-loads-aux");
}

/* The events of one kind of cores, one group or two. */
static void add_core(struct pmu_plan *plan, const struct perf_kernel *kernel,
		     const struct pmu_core_events *c, const char *pmu,
		     const struct variant *v, uint32_t ldlat)
{
	bool slow_loads = c->slow_loads.config && (v->slow || !c->loads.config);
	bool slow_stores = !c->stores.config;
	uint32_t type = plan_try_type(kernel, pmu), first = plan->events;
	const struct pmu_code *loads = slow_loads ? &c->slow_loads : &c->loads;
	const struct pmu_code *stores =
		slow_stores ? &c->slow_stores : &c->stores;

	if (slow_loads && wants_aux(kernel, c, pmu))
		add_core_event(plan, PMU_AUX, pmu, type, &aux_event, c->uops, v,
			       0);
	add_core_event(plan, PMU_LOADS, pmu, type, loads, c->uops, v,
		       !slow_loads         ? 0
		       : ldlat < LDLAT_MIN ? LDLAT_MIN
					   : ldlat);
	plan->event[plan->events - 1].leader = first;
	add_core_event(plan, PMU_STORES, pmu, type, stores, c->uops, v, 0);
	plan->event[plan->events - 1].partial = slow_stores;
	if (!v->turns)
		plan->event[plan->events - 1].leader = first;
}

/* The directory in sysfs of each kind of cores; how many kinds there are. */
static uint32_t find_pmus(const struct perf_kernel *kernel,
			  const struct pmu_model *m, const char **pmu)
{
	static const char *const hybrid[] = { "cpu_core", "cpu_atom",
					      "cpu_lowpower" };
	uint32_t n = 0;

	if (pmu_sysfs_has(kernel, hybrid[0], "type")) {
		while (n < PMU_KINDS_MAX && m->core[n] &&
		       pmu_sysfs_has(kernel, hybrid[n], "type")) {
			pmu[n] = hybrid[n];
			n++;
		}
	} else if (pmu_sysfs_has(kernel, "cpu", "type")) {
		pmu[n++] = "cpu";
	}
	return n;
}

static void make_pebs(struct pmu_plan *plan, const struct perf_kernel *kernel,
		      const struct pmu_model *m, const char *const *pmu,
		      uint32_t pmus, const struct variant *v, uint32_t ldlat)
{
	plan->events = 0;
	plan->takes_turns = v->turns;
	for (uint32_t i = 0; i < pmus; i++)
		add_core(plan, kernel, pmu_core_events(m->core[i]), pmu[i], v,
			 ldlat);
}

static int try_pebs(struct pmu_plan *plan, const struct perf_kernel *kernel,
		    const struct pmu_model *m, const char *const *pmu,
		    uint32_t pmus, const struct pmu_wish *wish, struct rng *rng,
		    struct pmu_refusal *no)
{
	const struct pmu_core_events *c = pmu_core_events(m->core[0]);
	bool have_slow = c->slow_loads.config;
	bool only_slow = have_slow && (wish->ldlat || !c->loads.config);
	uint32_t best = plan_try_precision(kernel, pmu[0]);
	int r = -ENOTSUP;

	if (best < PLAN_TRY_PRECISE_MIN) {
		plan_try_refuse(no, PMU_NOT_PRECISE, 0, pmu[0]);
		return -ENOTSUP;
	}
	for (int slow = only_slow; slow <= have_slow; slow++)
		for (int turns = 0; turns < 2; turns++)
			for (uint32_t p = best; p >= PLAN_TRY_PRECISE_MIN;
			     p--) {
				const struct variant v = { p, slow, turns };

				make_pebs(plan, kernel, m, pmu, pmus, &v,
					  wish->ldlat);
				r = plan_try_open(plan, kernel, wish->sigtrap,
						  rng, no);
				if (!r || plan_try_is_final(r))
					return r;
			}
	return r;
}

static int plan_pebs(struct pmu_plan *plan, const struct perf_kernel *kernel,
		     const struct pmu_machine *machine,
		     const struct pmu_wish *wish, struct rng *rng,
		     struct pmu_refusal *no)
{
	const struct pmu_model *m = machine->known;
	const char *pmu[PMU_KINDS_MAX];
	uint32_t pmus;
	struct text t;
	int r;

	if (machine->vendor != PMU_VENDOR_INTEL) {
		plan_try_refuse(no, PMU_OTHER_VENDOR, 0, "");
		return -ENOTSUP;
	}
	if (pmu_asked_any(wish->asked))
		return plan_asked(plan, kernel, machine, wish, rng, no);
	if (!m) {
		plan_try_refuse(no, PMU_UNKNOWN_MODEL, 0, "");
		no->detail = machine->family << 16 | machine->model;
		return -ENOTSUP;
	}
	plan_try_name(plan, m);
	if (!pmu_core_is_usable(pmu_core_events(m->core[0]))) {
		plan_try_refuse(no, PMU_UNFIT, 0, m->name);
		text_begin(&t, no->why_not, sizeof(no->why_not));
		text_put(&t, pmu_core_events(m->core[0])->why_not);
		return -ENOTSUP;
	}
	pmus = find_pmus(kernel, m, pmu);
	if (!pmus) {
		plan_try_refuse(no, PMU_NO_PMU, 0, "cpu");
		return -ENOTSUP;
	}
	plan_try_limit(plan, 1, PMU_PERIOD_MAX, 1);
	r = try_pebs(plan, kernel, m, pmu, pmus, wish, rng, no);
	return r ? r : plan_try_samples(plan, kernel, rng, no);
}

void pmu_refusal_begin(struct pmu_refusal *no, const struct perf_kernel *kernel)
{
	char text[2048];
	const char *at;

	memset(no, 0, sizeof(*no));
	no->paranoid = -100;
	if (kernel->read_file(kernel->ctx,
			      "/proc/sys/kernel/perf_event_paranoid", text,
			      sizeof(text)) > 0)
		no->paranoid = text[0] == '-' ? -1 : text[0] - '0';
	if (kernel->read_file(kernel->ctx, "/proc/sys/kernel/nmi_watchdog",
			      text, sizeof(text)) > 0)
		no->watchdog = text[0] == '1';
	if (kernel->read_file(kernel->ctx, "/proc/self/status", text,
			      sizeof(text)) > 0) {
		at = strstr(text, "Seccomp:\t");
		no->seccomp = at && at[9] == '2';
	}
}

int pmu_plan_make(struct pmu_plan *plan, const struct perf_kernel *kernel,
		  enum pmu_source source, const struct pmu_wish *wish,
		  struct pmu_refusal *no)
{
	struct pmu_machine machine;
	struct rng rng;
	int r;

	memset(plan, 0, sizeof(*plan));
	pmu_refusal_begin(no, kernel);
	plan->source = no->source = source;
	plan->period = wish->period ? wish->period : PMU_PERIOD_DEFAULT;
	pmu_machine_look(&machine, kernel);
	no->virtual_machine = machine.virtual_machine;
	memcpy(no->release, machine.release, sizeof(no->release));
	rng_seed(&rng, 1, source);
	r = source == PMU_PEBS
		    ? plan_pebs(plan, kernel, &machine, wish, &rng, no)
		    : plan_ibs(plan, kernel, &machine, wish, &rng, no);
	return r ? -ENOTSUP : 0;
}

bool pmu_plan_counts(const struct pmu_plan *plan)
{
	bool counted[PMU_COUNTS + 1] = { false };

	for (uint32_t i = 0; i < plan->events; i++)
		if (!plan->event[i].partial)
			counted[plan->event[i].role] = true;
	return counted[PMU_COUNTS] ||
	       (counted[PMU_LOADS] && counted[PMU_STORES]);
}
