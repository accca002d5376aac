/* SPDX-License-Identifier: MIT */
/*
 * thread - the hardware events of one thread, from opening to its samples
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>

#include "thread.h"
#include "src/base/signal_safe.h"

enum {
	RING_PAGES = 2,
	RING_PAGES_LEAST = 1, /* where locked memory is short */
	RECORDS_MAX = 1024,   /* records that one drain reads at most */
};

static bool leads(const struct pmu_plan *plan, uint32_t i)
{
	return plan->event[i].leader == i;
}

static long ask(const struct pmu_thread *t, int fd, unsigned long request,
		uint64_t arg)
{
	return t->kernel->ioctl(t->kernel->ctx, fd, request, arg);
}

static long control(const struct pmu_thread *t, int fd, int command,
		    uint64_t arg)
{
	return t->kernel->fcntl(t->kernel->ctx, fd, command, arg);
}

/* Leave low descriptor numbers to the application. */
static long move_high(const struct pmu_thread *t, int fd, int base)
{
	long high;

	if (!base)
		return fd;
	high = control(t, fd, F_DUPFD_CLOEXEC, base);
	t->kernel->close(t->kernel->ctx, fd);
	return high == -EINVAL ? -EMFILE : high;
}

static long by_signal(const struct pmu_thread *t, int fd,
		      const struct pmu_delivery *how)
{
	struct f_owner_ex owner = { F_OWNER_TID, how->tid };
	long r = control(t, fd, F_SETSIG, how->signal);

	if (!r)
		r = control(t, fd, F_SETOWN_EX, (uintptr_t)&owner);
	if (!r)
		r = control(t, fd, F_SETFL, O_ASYNC);
	return r;
}

static int open_event(struct pmu_thread *t, uint32_t i,
		      const struct pmu_delivery *how)
{
	const struct pmu_event *e = &t->plan->event[i];
	struct perf_event_attr a = e->attr;
	int group = leads(t->plan, i) ? -1 : t->event[e->leader].fd;
	long fd, r;

	a.disabled = leads(t->plan, i);
	if (pmu_event_samples(e))
		a.sample_period = pmu_interval_draw(t->plan, t->rng);
	if (pmu_event_samples(e) && how->sigtrap) {
		a.sigtrap = 1;
		a.remove_on_exec = 1; /* demanded by sigtrap */
		a.sig_data = how->sig_data | i;
	}
	fd = t->kernel->open(t->kernel->ctx, &a, 0, -1, group);
	if (fd < 0)
		return fd;
	fd = move_high(t, fd, how->fd_base);
	if (fd < 0)
		return fd;
	t->event[i].fd = fd;
	r = ask(t, fd, PERF_EVENT_IOC_ID, (uintptr_t)&t->event[i].id);
	if (!r && pmu_event_samples(e) && how->signal)
		r = by_signal(t, fd, how);
	return r;
}

static long map_ring(struct pmu_thread *t, int fd)
{
	uint32_t pages = RING_PAGES;
	long at;

	for (;;) {
		t->map_bytes = (size_t)(pages + 1) * PERF_RING_PAGE;
		at = t->kernel->map(t->kernel->ctx, fd, t->map_bytes);
		if ((at >= 0 || at <= -4096) || pages == RING_PAGES_LEAST)
			break;
		pages = RING_PAGES_LEAST;
	}
	if (at < 0 && at > -4096)
		return at;
	perf_ring_init(&t->ring, (void *)at, pages);
	return 0;
}

/* The first event that samples owns the ring; the others write to it. */
static long open_ring(struct pmu_thread *t, struct pmu_failure *at)
{
	int first = -1;
	long r = 0;

	for (uint32_t i = 0; i < t->plan->events && !r; i++) {
		if (!pmu_event_samples(&t->plan->event[i]))
			continue;
		at->event = i;
		if (first < 0) {
			first = t->event[i].fd;
			r = map_ring(t, first);
		} else {
			r = ask(t, t->event[i].fd, PERF_EVENT_IOC_SET_OUTPUT,
				first);
		}
	}
	return r;
}

/*
 * Another thread may still be pausing the last owner's events here, so no
 * descriptor may look like an open one meanwhile.
 */
static void begin(struct pmu_thread *t, const struct perf_kernel *kernel,
		  struct rng *rng)
{
	for (uint32_t i = 0; i < PMU_EVENTS_MAX; i++) {
		t->event[i].fd = -1;
		t->event[i].id = 0;
	}
	t->kernel = kernel;
	t->rng = rng;
	memset(&t->ring, 0, sizeof(t->ring));
	t->map_bytes = 0;
	t->fired = 0;
	t->user_samples = t->memory_samples = 0;
	memset(t->progress, 0, sizeof(t->progress));
	t->accesses = 0;
}

int pmu_thread_open(struct pmu_thread *t, const struct perf_kernel *kernel,
		    const struct pmu_plan *plan, const struct pmu_delivery *how,
		    struct rng *rng, struct pmu_failure *at)
{
	struct pmu_failure failure = { 0 };
	int r = 0;

	begin(t, kernel, rng);
	/* After the fields above: a thread that sees the plan reads them. */
	atomic_store_explicit(&t->plan, plan, memory_order_release);
	for (uint32_t i = 0; i < plan->events && !r; i++) {
		failure.event = i;
		r = open_event(t, i, how);
		/* Counting ops is optional. */
		if (r && plan->event[i].role == PMU_COUNTS)
			r = 0;
	}
	if (!r) {
		r = open_ring(t, &failure);
		failure.ring = r;
	}
	if (r) {
		pmu_thread_close(t);
		if (at)
			*at = failure;
	}
	return r;
}

bool pmu_thread_owns(const struct pmu_thread *t, uint32_t i)
{
	uint64_t id = 0;

	return t->event[i].fd >= 0 &&
	       !ask(t, t->event[i].fd, PERF_EVENT_IOC_ID, (uintptr_t)&id) &&
	       id == t->event[i].id;
}

void pmu_thread_close(struct pmu_thread *t)
{
	if (!t->plan)
		return;
	if (t->ring.page)
		t->kernel->unmap(t->kernel->ctx, t->ring.page, t->map_bytes);
	t->ring.page = NULL;
	for (uint32_t i = t->plan->events; i-- > 0;) {
		bool owns = pmu_thread_owns(t, i);
		int fd = t->event[i].fd;

		t->event[i].fd = -1;
		if (owns)
			t->kernel->close(t->kernel->ctx, fd);
	}
	t->plan = NULL;
}

/*
 * The thread may end and clear the plan while another one switches its events.
 * A plan is constant and outlives all threads, so read the pointer once.
 */
static void switch_all(struct pmu_thread *t, unsigned long request)
{
	const struct pmu_plan *plan = t->plan;

	for (uint32_t i = 0; plan && i < plan->events; i++) {
		int fd = t->event[i].fd;

		if (leads(plan, i) && fd >= 0)
			ask(t, fd, request, 0);
	}
}

void pmu_thread_pause(struct pmu_thread *t)
{
	switch_all(t, PERF_EVENT_IOC_DISABLE);
}

void pmu_thread_switch_on(struct pmu_thread *t)
{
	switch_all(t, PERF_EVENT_IOC_ENABLE);
}

void pmu_thread_resume(struct pmu_thread *t)
{
	if (!t->plan)
		return;
	for (uint32_t i = 0; t->fired && i < t->plan->events; i++) {
		uint64_t interval;

		if (!(t->fired & 1u << i))
			continue;
		interval = pmu_interval_draw(t->plan, t->rng);
		ask(t, t->event[i].fd, PERF_EVENT_IOC_PERIOD,
		    (uintptr_t)&interval);
	}
	t->fired = 0;
	switch_all(t, PERF_EVENT_IOC_ENABLE);
}

bool pmu_thread_has(const struct pmu_thread *t, int fd)
{
	const struct pmu_plan *plan = t->plan; /* as in switch_all */

	for (uint32_t i = 0; plan && i < plan->events; i++)
		if (fd >= 0 && t->event[i].fd == fd)
			return true;
	return false;
}

/* The index of a record's event; -1 if it has none of ours. */
static int event_of(const struct pmu_thread *t, const struct perf_record *r)
{
	const struct perf_event_attr *any = &t->plan->event[0].attr;
	uint64_t id;

	for (uint32_t i = 0; i < t->plan->events; i++)
		if (pmu_event_samples(&t->plan->event[i]))
			any = &t->plan->event[i].attr;
	if (perf_sample_event(any, r, r->header.size, &id))
		return -1;
	for (uint32_t i = 0; i < t->plan->events; i++)
		if (pmu_event_samples(&t->plan->event[i]) &&
		    t->event[i].fd >= 0 && t->event[i].id == id)
			return i;
	return -1;
}

static void take_sample(struct pmu_thread *t, const struct perf_record *r,
			const struct pmu_sink *sink, void *ctx)
{
	int i = event_of(t, r);
	enum loss_cause cause = LOSS_MALFORMED;
	enum pmu_take take = PMU_TAKE_BROKEN;
	struct pmu_sample s;

	if (i >= 0)
		take = pmu_take(t->plan, (uint32_t)i, r, r->header.size, &s,
				&cause);
	if (take > PMU_TAKE_BROKEN)
		t->fired |= 1u << i;
	t->user_samples += take >= PMU_TAKE_NO_ACCESS;
	t->memory_samples += take >= PMU_TAKE_UNUSABLE;
	if (take == PMU_TAKE_ACCESS)
		sink->sample(ctx, &s);
	else
		sink->lost(ctx, cause, 1);
}

/* The @n-th word after the header, 0 if the record is too short for it. */
static uint64_t word(const struct perf_record *r, uint32_t n)
{
	return r->header.size >= (n + 2) * 8 ? r->align[n + 1] : 0;
}

static void take_record(struct pmu_thread *t, const struct perf_record *r,
			const struct pmu_sink *sink, void *ctx)
{
	switch (r->header.type) {
	case PERF_RECORD_SAMPLE:
		take_sample(t, r, sink, ctx);
		break;
	case PERF_RECORD_LOST: /* id, how many */
		sink->lost(ctx, LOSS_RING_FULL, word(r, 1));
		break;
	case PERF_RECORD_LOST_SAMPLES: /* lost before they reached the ring */
		sink->lost(ctx, LOSS_RING_FULL, word(r, 0));
		break;
	case PERF_RECORD_THROTTLE:
		sink->lost(ctx, LOSS_THROTTLED, 1);
		break;
	case PERF_RECORD_UNTHROTTLE:
		break;
	default:
		sink->lost(ctx, LOSS_MALFORMED, 1);
		break;
	}
}

void pmu_thread_drain(struct pmu_thread *t, const struct pmu_sink *sink,
		      void *ctx)
{
	struct perf_record r;

	for (int i = 0; t->plan && i < RECORDS_MAX; i++) {
		int got = perf_ring_next(&t->ring, &r);

		if (!got)
			break;
		if (got < 0)
			sink->lost(ctx, LOSS_MALFORMED, 1);
		else
			take_record(t, &r, sink, ctx);
	}
}
