/* SPDX-License-Identifier: MIT */
/*
 * plan_try - events of a plan, tried as each thread will open them
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "plan_try.h"
#include "thread.h"
#include "src/base/text.h"

enum {
	PRECISE_MAX = 3,
	SELFTEST_PERIOD = 2048,
	SELFTEST_WORDS = 8,
};

struct pmu_event *plan_try_event(struct pmu_plan *plan, enum pmu_role role,
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

void plan_try_refuse(struct pmu_refusal *no, enum pmu_cause cause, int error,
		     const char *event)
{
	struct text t;

	no->cause = cause;
	no->error = error;
	text_begin(&t, no->event, sizeof(no->event));
	text_put(&t, event);
}

int plan_try_open(const struct pmu_plan *plan, const struct perf_kernel *kernel,
		  bool sigtrap, struct rng *rng, struct pmu_refusal *no)
{
	const struct pmu_delivery how = { .sigtrap = sigtrap };
	struct pmu_failure at;
	struct pmu_thread t;
	int r = pmu_thread_open(&t, kernel, plan, &how, rng, &at);

	if (r)
		plan_try_refuse(no, at.ring ? PMU_NO_RING : PMU_REFUSED, -r,
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

int plan_try_samples(const struct pmu_plan *plan,
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
		plan_try_refuse(no, PMU_REFUSED, -r, quick.event[0].name);
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
	plan_try_refuse(no, counts.never ? PMU_STARVED : PMU_SILENT, 0,
			plan->event[0].name);
	return -ENOTSUP;
}

void plan_try_name(struct pmu_plan *plan, const struct pmu_model *m)
{
	struct text t;

	text_begin(&t, plan->model, sizeof(plan->model));
	text_put(&t, m->name);
	text_begin(&t, plan->core, sizeof(plan->core));
	text_put(&t, pmu_core_events(m->core[0])->name);
}

void plan_try_limit(struct pmu_plan *plan, uint64_t low, uint64_t high,
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

bool plan_try_is_final(int error)
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

uint32_t plan_try_precision(const struct perf_kernel *kernel, const char *pmu)
{
	long n = pmu_sysfs_number(kernel, pmu, "caps/max_precise");

	return n < 0 || n > PRECISE_MAX ? PRECISE_MAX : (uint32_t)n;
}

uint32_t plan_try_type(const struct perf_kernel *kernel, const char *pmu)
{
	long type = pmu_sysfs_number(kernel, pmu, "type");

	return type < 0 ? PERF_TYPE_RAW : (uint32_t)type;
}
