/* SPDX-License-Identifier: MIT */
/*
 * fake_pmu - events that count the ops of a thread, and overflow
 *
 * An event is off, or on and waits for a counter, or counts. Groups get
 * counters together. Where events take turns, the groups of a thread are
 * served one at a time, the next one from k->rotate ops later on.
 */
#include <errno.h>
#include <string.h>

#include "fake_kernel.h"

enum {
	NS_PER_OP = 1,
	IBS_RANDOM = 0x7f, /* bits of the count that the hardware invents */
};

bool fake_is_sampling(const struct fake_event *e)
{
	return e->attr.sample_period > 0;
}

static bool counts(const struct fake_event *e, const struct fake_op *op)
{
	bool load = op->access.flags & ACCESS_LOAD;
	bool store = op->access.flags & ACCESS_STORE;

	if (op->in_kernel && e->attr.exclude_kernel && !e->pmu->ibs)
		return false;
	if (e->pmu->ibs)
		return true; /* it counts the kernel's too and filters later */
	switch (e->attr.config & 0xffff) {
	case 0x81d0:
		return load;
	case 0x82d0:
	case 0x02cd:
	case 0x06d0:
		return store;
	case 0x01cd:
	case 0x05d0:
	case 0x100b:
		return load && op->latency >= e->attr.config1;
	case 0xc1:
		return true;
	default:
		return false;
	}
}

static bool is_ready(const struct fake_kernel *k, const struct fake_event *e)
{
	const struct fake_event *leader = &k->event[e->leader];

	return e->users && e->thread == k->running && e->enabled &&
	       leader->enabled && !k->starved &&
	       (e->cpu < 0 || e->cpu == e->thread % FAKE_CPUS) &&
	       (!strcmp(e->pmu->name, "cpu_core") ? !k->on_atom
		: e->pmu->atom                    ? k->on_atom
						  : true);
}

static void set_on(struct fake_kernel *k, struct fake_event *e, bool on)
{
	if (on && !e->on)
		e->on_at = k->thread_ns[e->thread];
	if (!on && e->on)
		e->time_running += k->thread_ns[e->thread] - e->on_at;
	e->on = on;
}

#define FOR_EACH_OF(i, k, thread)                                              \
	for (int i = (k)->first[thread]; i >= 0; i = (k)->event[i].next)

/* Of the running thread the n-th of the groups that are ready, or all. */
void fake_schedule(struct fake_kernel *k)
{
	int groups = 0, chosen = -1, n = 0;

	FOR_EACH_OF(i, k, k->running)
	groups += is_ready(k, &k->event[i]) && k->event[i].leader == i;
	FOR_EACH_OF(i, k, k->running)
	if (is_ready(k, &k->event[i]) && k->event[i].leader == i &&
	    (uint64_t)n++ == k->turn % groups)
		chosen = i;
	FOR_EACH_OF(i, k, k->running)
	{
		struct fake_event *e = &k->event[i];

		set_on(k, e,
		       is_ready(k, e) && (!k->rotate || e->leader == chosen));
	}
}

void fake_event_add(struct fake_kernel *k, struct fake_event *e)
{
	int *to = &k->first[e->thread];

	while (*to >= 0)
		to = &k->event[*to].next;
	*to = (int)(e - k->event);
	e->next = -1;
}

/* Forget the signal of @e; returns true if there was one. */
static bool drop_pending(struct fake_kernel *k, const struct fake_event *e)
{
	for (int i = 0; i < k->pendings; i++) {
		if (k->pending[i] != (int)(e - k->event))
			continue;
		k->pendings--;
		memmove(k->pending + i, k->pending + i + 1,
			(k->pendings - i) * sizeof(k->pending[0]));
		memmove(k->pending_addr + i, k->pending_addr + i + 1,
			(k->pendings - i) * sizeof(k->pending_addr[0]));
		memmove(k->pending_from + i, k->pending_from + i + 1,
			(k->pendings - i) * sizeof(k->pending_from[0]));
		return true;
	}
	return false;
}

/* perf_group_detach: what a leader leaves behind are groups of one. */
void fake_event_remove(struct fake_kernel *k, struct fake_event *e)
{
	int *to = &k->first[e->thread], at = (int)(e - k->event);

	if (drop_pending(k, e) && e->attr.sigtrap && k->signals_wait &&
	    !k->frees_unsent)
		k->hung = true;
	while (*to != at)
		to = &k->event[*to].next;
	*to = e->next;
	FOR_EACH_OF(i, k, e->thread)
	if (k->event[i].leader == at)
		k->event[i].leader = i;
	fake_schedule(k);
}

void fake_event_enable(struct fake_kernel *k, struct fake_event *e)
{
	if (!e->enabled)
		e->enabled_at = k->thread_ns[e->thread];
	e->enabled = true;
	fake_schedule(k);
}

void fake_event_disable(struct fake_kernel *k, struct fake_event *e)
{
	if (e->enabled)
		e->time_enabled += k->thread_ns[e->thread] - e->enabled_at;
	e->enabled = false;
	fake_schedule(k);
}

void fake_event_read(struct fake_kernel *k, struct fake_event *e,
		     uint64_t out[3])
{
	const struct fake_event *leader = &k->event[e->leader];
	uint64_t now = k->thread_ns[e->thread];

	out[0] = e->count;
	/* A sibling is on when its leader is. */
	out[1] = leader->time_enabled +
		 (leader->enabled ? now - leader->enabled_at : 0);
	out[2] = e->time_running + (e->on ? now - e->on_at : 0);
}

static void pend(struct fake_kernel *k, struct fake_event *e, uint64_t addr)
{
	int room = sizeof(k->pending) / sizeof(k->pending[0]);

	for (int i = 0; i < k->pendings; i++)
		if (k->pending[i] == (int)(e - k->event))
			return; /* one signal for all until it is sent */
	if (k->pendings == room)
		return;
	k->pending_addr[k->pendings] = addr;
	k->pending_from[k->pendings] = k->ops + k->skid;
	k->pending[k->pendings++] = (int)(e - k->event);
}

static void overflow(struct fake_kernel *k, struct fake_event *e,
		     const struct fake_op *op)
{
	bool exact = !k->inexact || fake_random(k) % k->inexact;

	e->left = e->interval;
	if (e->pmu->ibs)
		e->left -= fake_random(k) & IBS_RANDOM & (e->interval - 1);
	if (op->in_kernel && e->attr.exclude_kernel)
		return; /* the filter of the driver */
	fake_write_sample(k, e, op, exact);
	e->interval = e->attr.sample_period;
	if (k->throttle && k->samples % k->throttle == 0) {
		fake_write_throttle(k, e, PERF_RECORD_THROTTLE);
		e->throttled = true;
		k->throttles++;
	}
	pend(k, e, op->access.addr);
}

/* The tick that lets throttled events go on. */
static void unthrottle(struct fake_kernel *k)
{
	for (int i = 0; i < k->events; i++) {
		struct fake_event *e = &k->event[i];

		if (!e->users || !e->throttled)
			continue;
		e->throttled = false;
		fake_write_throttle(k, e, PERF_RECORD_UNTHROTTLE);
	}
	fake_schedule(k);
}

static int fd_of(const struct fake_kernel *k, int event)
{
	for (int fd = 0; fd < FAKE_FDS; fd++)
		if (k->fd[fd] == event + 1)
			return fd;
	return -1;
}

/*
 * Before Linux 6.11 an interrupt sends the signal, wherever the thread is. From
 * then on a synchronous one waits for the return to user mode. Before 5.19 a
 * synchronous one is forced on a thread that has it blocked, which ends the
 * process; from then on it waits.
 */
static bool is_due(const struct fake_kernel *k, const struct fake_event *e,
		   const struct fake_op *op)
{
	if (e->attr.sigtrap && k->blocked && !k->forces_signals)
		return false;
	return e->thread == k->running &&
	       !(op->in_kernel && e->attr.sigtrap && k->signals_wait);
}

static void deliver(struct fake_kernel *k, const struct fake_op *op)
{
	int i = 0;

	while (i < k->pendings) {
		struct fake_event *e = &k->event[k->pending[i]];
		uint64_t addr = k->pending_addr[i];

		if (k->pending_from[i] > k->ops ||
		    (e->users && !is_due(k, e, op))) {
			i++;
			continue;
		}
		drop_pending(k, e);
		if (!k->raise || !e->users || (!e->attr.sigtrap && !e->signal))
			continue;
		if (e->attr.sigtrap && k->blocked) {
			k->killed = true;
			continue;
		}
		k->signals++;
		k->interrupted += op->in_kernel;
		k->raise(k->raise_ctx, e, fd_of(k, (int)(e - k->event)), addr);
	}
}

void fake_run(struct fake_kernel *k, const struct fake_op *op)
{
	k->now += NS_PER_OP;
	k->thread_ns[k->running] += NS_PER_OP;
	k->ops++;
	if (k->rotate && k->ops >= k->turn_at) {
		k->turn_at = k->ops + k->rotate;
		k->turn++;
		fake_schedule(k);
	}
	if (k->throttle && k->throttled_for && k->now % k->throttled_for == 0)
		unthrottle(k);
	if (k->silent)
		return;
	FOR_EACH_OF(i, k, k->running)
	{
		struct fake_event *e = &k->event[i];

		/* Throttled, it keeps its counter, which stands still. */
		if (!e->on || e->throttled || !counts(e, op))
			continue;
		e->count++;
		if (fake_is_sampling(e) && --e->left == 0)
			overflow(k, e, op);
	}
	if (k->pendings)
		deliver(k, op);
}

void fake_kernel_run_thread(struct fake_kernel *k, int thread, bool atom)
{
	if (k->running == thread && k->on_atom == atom)
		return;
	FOR_EACH_OF(i, k, k->running)
	set_on(k, &k->event[i], false);
	k->running = thread;
	k->on_atom = atom;
	fake_schedule(k);
}

/* perf_event_init_task: a copy of each has the id of the first one. */
void fake_kernel_clone(struct fake_kernel *k, int child)
{
	int copy[FAKE_EVENTS];

	FOR_EACH_OF(i, k, k->running)
	{
		const struct fake_event *from = &k->event[i];
		struct fake_event *e = &k->event[k->events];

		if (!from->attr.inherit || k->events == FAKE_EVENTS)
			continue;
		copy[i] = k->events++;
		*e = *from;
		e->thread = child;
		e->leader = copy[from->leader];
		e->users = 1; /* it lives as long as the machine */
		e->on = false;
		e->count = 0;
		e->left = e->interval = e->attr.sample_period;
		fake_event_add(k, e);
	}
}
