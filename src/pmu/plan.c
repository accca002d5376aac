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
#include <time.h>

#include "machine.h"
#include "plan.h"
#include "thread.h"
#include "src/base/text.h"

enum {
	PRECISE_MAX = 3,
	PRECISE_MIN = 2, /* below, samples do not name the exact instruction */
	LDLAT_MIN = 3,   /* least that the processors accept */
	SELFTEST_PERIOD = 2048,
	SELFTEST_WORDS = 8,
	IBS_STEP = 16,
	IBS_PERIOD_MIN = 0x90, /* on newer processors; older ones take less */
	IBS_CNT_CTL = 1 << 19, /* count ops */
	IBS_SWFILT = 1,        /* in config2 */
	RETIRED_OPS = 0xc1,    /* PMCx0C1 */
	IBS_PERIOD_EXT = 0x7fffff0,
	IBS_PERIOD_OLD = 0xffff0,
};

/* One attempt. */
struct variant {
	uint32_t precise;
	bool slow;  /* slow loads, though there is an event for all loads */
	bool turns; /* each event is a group of its own */
};

static struct pmu_event *add_event(struct pmu_plan *plan, enum pmu_role role,
				   enum perf_kind kind, const char *pmu,
				   const char *name)
{
	struct pmu_event *e = &plan->event[plan->events];
	struct perf_event_attr *a = &e->attr;
	struct text t;

	memset(e, 0, sizeof(*e));
	e->role = role;
	e->kind = kind;
	e->leader = plan->events++;
	text_begin(&t, e->name, sizeof(e->name));
	text_put(&t, pmu);
	text_put(&t, "/");
	text_put(&t, name);
	text_put(&t, "/");
	a->size = sizeof(*a);
	a->exclude_kernel = 1; /* allowed at perf_event_paranoid 2 */
	a->exclude_hv = 1;
	a->read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (role == PMU_AUX || role == PMU_COUNTS)
		return e;
	a->sample_period = plan->period;
	a->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			 PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			 PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	a->sample_id_all = 1; /* lost and throttle records name their event */
	a->use_clockid = 1;
	a->clockid = CLOCK_MONOTONIC; /* one time for all threads */
	/*
	 * An interrupt for each sample. Otherwise the processor hands over many
	 * at once, long after the accesses.
	 */
	a->wakeup_events = 1;
	return e;
}

static uint32_t pmu_type(const struct perf_kernel *kernel, const char *pmu)
{
	long type = pmu_sysfs_number(kernel, pmu, "type");

	return type < 0 ? PERF_TYPE_RAW : (uint32_t)type;
}

static void add_core_event(struct pmu_plan *plan, enum pmu_role role,
			   const char *pmu, uint32_t type,
			   const struct pmu_code *code, const struct variant *v,
			   uint64_t ldlat)
{
	struct pmu_event *e =
		add_event(plan, role,
			  role == PMU_LOADS    ? PERF_KIND_LOADS
			  : role == PMU_STORES ? PERF_KIND_STORES
					       : PERF_KIND_UNKNOWN,
			  pmu, code->name);

	e->attr.type = type;
	e->attr.config = code->config;
	e->attr.config1 = ldlat;
	e->partial = ldlat;
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
	uint32_t type = pmu_type(kernel, pmu), first = plan->events;
	const struct pmu_code *loads = slow_loads ? &c->slow_loads : &c->loads;
	const struct pmu_code *stores =
		slow_stores ? &c->slow_stores : &c->stores;

	if (slow_loads && wants_aux(kernel, c, pmu))
		add_core_event(plan, PMU_AUX, pmu, type, &aux_event, v, 0);
	add_core_event(plan, PMU_LOADS, pmu, type, loads, v,
		       !slow_loads         ? 0
		       : ldlat < LDLAT_MIN ? LDLAT_MIN
					   : ldlat);
	plan->event[plan->events - 1].leader = first;
	add_core_event(plan, PMU_STORES, pmu, type, stores, v, 0);
	plan->event[plan->events - 1].partial = slow_stores;
	if (!v->turns)
		plan->event[plan->events - 1].leader = first;
}

static void refuse(struct pmu_refusal *no, enum pmu_cause cause, int error,
		   const char *event)
{
	struct text t;

	no->cause = cause;
	no->error = error;
	text_begin(&t, no->event, sizeof(no->event));
	text_put(&t, event);
}

/* True if the failure would be the same for every variant. */
static bool is_final(int error)
{
	switch (-error) {
	case EACCES:
	case EPERM:
	case EMFILE:
	case ENFILE:
	case ENODEV:
	case EBUSY:
	case ENOSYS:
	case ENOMEM:
		return true;
	default:
		return false;
	}
}

/* Open the plan on this thread as each thread will, and close it. */
static int try_open(const struct pmu_plan *plan,
		    const struct perf_kernel *kernel, bool sigtrap,
		    struct rng *rng, struct pmu_refusal *no)
{
	const struct pmu_delivery how = { .sigtrap = sigtrap };
	struct pmu_failure at;
	struct pmu_thread t;
	int r = pmu_thread_open(&t, kernel, plan, &how, rng, &at);

	if (r)
		refuse(no, at.ring ? PMU_NO_RING : PMU_REFUSED, -r,
		       plan->event[at.event].name);
	else
		pmu_thread_close(&t);
	return r;
}

struct selftest {
	uint64_t low, high; /* addresses of the loop's accesses */
	uint32_t hits;
};

static void selftest_sample(void *ctx, const struct pmu_sample *s)
{
	struct selftest *test = ctx;

	if (s->memory.addr >= test->low && s->memory.addr < test->high)
		test->hits++;
}

static void selftest_lost(void *ctx, enum loss_cause cause, uint64_t n)
{
}

/* Sample a loop of our own: some PMUs open but never deliver a sample. */
static int try_samples(const struct pmu_plan *plan,
		       const struct perf_kernel *kernel, struct rng *rng,
		       struct pmu_refusal *no)
{
	static const struct pmu_sink sink = { selftest_sample, selftest_lost };
	const struct pmu_delivery none = { 0 };
	volatile uint64_t words[SELFTEST_WORDS] = { 0 };
	struct selftest test = { (uintptr_t)words, (uintptr_t)(words + 1), 0 };
	struct pmu_plan quick = *plan;
	struct pmu_counts counts;
	struct pmu_thread t;
	int r;

	test.high = (uintptr_t)(words + SELFTEST_WORDS);
	quick.period = SELFTEST_PERIOD;
	r = pmu_thread_open(&t, kernel, &quick, &none, rng, NULL);
	if (r) {
		refuse(no, PMU_REFUSED, -r, quick.event[0].name);
		return r;
	}
	pmu_thread_resume(&t);
	kernel->exercise(kernel->ctx, words, SELFTEST_WORDS);
	pmu_thread_pause(&t);
	pmu_thread_drain(&t, &sink, &test);
	pmu_thread_counts(&t, &counts);
	pmu_thread_close(&t);
	if (test.hits)
		return 0;
	refuse(no, counts.never ? PMU_STARVED : PMU_SILENT, 0,
	       plan->event[0].name);
	return -ENOTSUP;
}

static void name_plan(struct pmu_plan *plan, const struct pmu_model *m)
{
	struct text t;

	text_begin(&t, plan->model, sizeof(plan->model));
	text_put(&t, m->name);
	text_begin(&t, plan->core, sizeof(plan->core));
	text_put(&t, pmu_core_events(m->core[0])->name);
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

static uint32_t highest_precision(const struct perf_kernel *kernel,
				  const char *pmu)
{
	long n = pmu_sysfs_number(kernel, pmu, "caps/max_precise");

	return n < 0 || n > PRECISE_MAX ? PRECISE_MAX : (uint32_t)n;
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
	uint32_t best = highest_precision(kernel, pmu[0]);
	int r = -ENOTSUP;

	if (best < PRECISE_MIN) {
		refuse(no, PMU_NOT_PRECISE, 0, pmu[0]);
		return -ENOTSUP;
	}
	for (int slow = only_slow; slow <= have_slow; slow++)
		for (int turns = 0; turns < 2; turns++)
			for (uint32_t p = best; p >= PRECISE_MIN; p--) {
				const struct variant v = { p, slow, turns };

				make_pebs(plan, kernel, m, pmu, pmus, &v,
					  wish->ldlat);
				r = try_open(plan, kernel, wish->sigtrap, rng,
					     no);
				if (!r || is_final(r))
					return r;
			}
	return r;
}

/*
 * The PMU allows intervals from @low to @high in steps of @step. Keep the
 * period a quarter away from these limits, so that the mean interval is the
 * period.
 */
static void limit_period(struct pmu_plan *plan, uint64_t low, uint64_t high,
			 uint32_t step)
{
	plan->period_min = low;
	plan->period_max = high;
	plan->period_step = step;
	low = low * 4 / 3 + step;
	low = low < PMU_PERIOD_MIN ? PMU_PERIOD_MIN : low;
	if (plan->period < low)
		plan->period = low;
	if (plan->period > high / 5 * 4)
		plan->period = high / 5 * 4;
	plan->period -= plan->period % step;
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
		refuse(no, PMU_OTHER_VENDOR, 0, "");
		return -ENOTSUP;
	}
	if (!m) {
		refuse(no, PMU_UNKNOWN_MODEL, 0, "");
		no->detail = machine->family << 16 | machine->model;
		return -ENOTSUP;
	}
	name_plan(plan, m);
	if (!pmu_core_is_usable(pmu_core_events(m->core[0]))) {
		refuse(no, PMU_UNFIT, 0, m->name);
		text_begin(&t, no->why_not, sizeof(no->why_not));
		text_put(&t, pmu_core_events(m->core[0])->why_not);
		return -ENOTSUP;
	}
	pmus = find_pmus(kernel, m, pmu);
	if (!pmus) {
		refuse(no, PMU_NO_PMU, 0, "cpu");
		return -ENOTSUP;
	}
	limit_period(plan, 1, PMU_PERIOD_MAX, 1);
	r = try_pebs(plan, kernel, m, pmu, pmus, wish, rng, no);
	return r ? r : try_samples(plan, kernel, rng, no);
}

static int plan_ibs(struct pmu_plan *plan, const struct perf_kernel *kernel,
		    const struct pmu_machine *machine,
		    const struct pmu_wish *wish, struct rng *rng,
		    struct pmu_refusal *no)
{
	bool filter = pmu_sysfs_has(kernel, "ibs_op", "format/swfilt");
	long type = pmu_sysfs_number(kernel, "ibs_op", "type");
	struct pmu_event *e;
	int r;

	if (machine->vendor != PMU_VENDOR_AMD) {
		refuse(no, PMU_OTHER_VENDOR, 0, "");
		return -ENOTSUP;
	}
	if (machine->known)
		name_plan(plan, machine->known);
	if (type < 0) {
		refuse(no, PMU_NO_PMU, 0, "ibs_op");
		return -ENOTSUP;
	}
	if (!pmu_sysfs_has(kernel, "ibs_op", "format/cnt_ctl") &&
	    !(machine->ibs_caps & IBS_CAPS_OP_COUNT)) {
		refuse(no, PMU_CYCLES_ONLY, 0, "ibs_op");
		return -ENOTSUP;
	}
	plan->cpu = (struct ibs_cpu){ machine->family, machine->model };
	/* The kernel would silently split a longer interval. */
	limit_period(plan, IBS_PERIOD_MIN,
		     machine->ibs_caps & IBS_CAPS_COUNT_EXT ? IBS_PERIOD_EXT
							    : IBS_PERIOD_OLD,
		     IBS_STEP);
	plan->kernel_too = no->needs_kernel = !filter;
	e = add_event(plan, PMU_OPS, PERF_KIND_IBS_OP, "ibs_op", "cnt_ctl");
	e->attr.type = type;
	e->attr.config = IBS_CNT_CTL;
	e->attr.config2 = filter ? IBS_SWFILT : 0;
	/* Without the filter the driver refuses to exclude the kernel. */
	e->attr.exclude_kernel = filter;
	e->attr.exclude_hv = 0;
	e->attr.sample_type |= PERF_SAMPLE_RAW;
	e = add_event(plan, PMU_COUNTS, PERF_KIND_UNKNOWN, "cpu", "ex_ret_ops");
	e->attr.type = PERF_TYPE_RAW;
	e->attr.config = RETIRED_OPS;
	r = try_open(plan, kernel, wish->sigtrap, rng, no);
	return r ? r : try_samples(plan, kernel, rng, no);
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
