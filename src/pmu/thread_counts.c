/* SPDX-License-Identifier: MIT */
/*
 * thread_counts - what the events of a thread have counted
 */
#include <string.h>

#include "thread.h"
#include "src/base/signal_safe.h"

/* The kernel's answer for the read_format of the plan. */
struct reading {
	uint64_t value, enabled, running;
};

/*
 * On a processor with two kinds of cores an event counts only on its kind but
 * is enabled all the time. So the sum over the kinds is scaled.
 */
struct total {
	uint64_t value, enabled, running;
	bool any;
	bool counted[2]; /* instructions, uops */
};

static uint64_t scale(const struct total *n, struct pmu_counts *c)
{
	if (!n->any || !n->enabled)
		return 0;
	/* A sum of instructions and uops is no exact number of either. */
	if (n->counted[0] && n->counted[1])
		c->scaled = true;
	if (!n->running) {
		c->never = true;
		return 0;
	}
	if (n->running >= n->enabled)
		return n->value;
	c->scaled = true;
	return (uint64_t)((unsigned __int128)n->value * n->enabled /
			  n->running);
}

static void read_totals(const struct pmu_thread *t,
			struct total total[PMU_COUNTS + 1])
{
	memset(total, 0, (PMU_COUNTS + 1) * sizeof(*total));
	for (uint32_t i = 0; t->plan && i < t->plan->events; i++) {
		const struct pmu_event *e = &t->plan->event[i];
		struct total *n = &total[e->role];
		struct reading r = { 0, 0, 0 };

		if (e->partial || !pmu_thread_owns(t, i) ||
		    t->kernel->read(t->kernel->ctx, t->event[i].fd, &r,
				    sizeof(r)) != sizeof(r))
			continue;
		n->value += r.value;
		n->counted[e->uops] |= r.value > 0;
		n->running += r.running;
		if (n->enabled < r.enabled)
			n->enabled = r.enabled;
		n->any = true;
	}
}

void pmu_thread_counts(const struct pmu_thread *t, struct pmu_counts *c)
{
	struct total total[PMU_COUNTS + 1];

	memset(c, 0, sizeof(*c));
	read_totals(t, total);
	c->loads = scale(&total[PMU_LOADS], c);
	c->stores = scale(&total[PMU_STORES], c);
	c->ops = scale(&total[PMU_COUNTS], c);
}

/* The count since the last call, scaled as if the event was always on. */
static double advance(struct pmu_progress *p, const struct total *n)
{
	double value = (double)(n->value - p->value);
	double enabled = (double)(n->enabled - p->enabled);
	double running = (double)(n->running - p->running);

	*p = (struct pmu_progress){ n->value, n->enabled, n->running };
	if (running >= enabled)
		return value;
	if (running > 0)
		return value * enabled / running;
	/* It was off all the time since: use the rate before. */
	return n->running ? enabled * (double)n->value / (double)n->running : 0;
}

bool pmu_thread_accesses(struct pmu_thread *t, uint64_t *accesses)
{
	struct total n[PMU_COUNTS + 1];
	struct pmu_progress *p = t->progress;

	read_totals(t, n);
	if (n[PMU_COUNTS].any)
		/*
		 * The share of accesses in ops; a half before the first sample.
		 */
		t->accesses += advance(&p[PMU_COUNTS], &n[PMU_COUNTS]) *
			       ((double)t->memory_samples + 1) /
			       ((double)t->user_samples + 2);
	else if (n[PMU_LOADS].any && n[PMU_STORES].any)
		t->accesses += advance(&p[PMU_LOADS], &n[PMU_LOADS]) +
			       advance(&p[PMU_STORES], &n[PMU_STORES]);
	else
		return false;
	*accesses = (uint64_t)t->accesses;
	return true;
}
