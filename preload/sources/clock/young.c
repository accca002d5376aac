/* SPDX-License-Identifier: MIT */
/*
 * young - a clock event of their own for threads that are young
 *
 * A slot's word is the id of the thread that has it, FREE, or BUSY while
 * somebody opens, changes or closes the event. Each step is one
 * compare-and-swap, so a thread that lost its slot notices when its own swap
 * fails. No operation waits.
 */
#include <stdatomic.h>
#include <sys/ioctl.h>

#include "clock.h"
#include "young.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "preload/core/timing.h"
#include "preload/handler/handler.h"
#include "preload/watch/own_event.h"
#include "preload/watch/watch.h"
#include "src/base/signal_safe.h"

enum {
	SLOTS_MAX = 32,
	LOSES_AFTER_NS = 20 * 1000 * 1000,
	CLOSE_TRIES = 1000, /* of a slot that is busy */
};

enum {
	FREE = 0,
	BUSY = -1,
};

struct young_slot {
	_Atomic int64_t word;
	_Atomic uint64_t since; /* CLOCK_MONOTONIC, ns */
	struct own_event event;
};

static struct young_slot slots[SLOTS_MAX];
static uint32_t slot_count;

static bool take(struct young_slot *s, int64_t from)
{
	/* (A) acquires what (B) released: the event as it was left. */
	return atomic_compare_exchange_strong_explicit(&s->word, &from, BUSY,
						       memory_order_acquire,
						       memory_order_relaxed);
}

static void give(struct young_slot *s, int64_t to)
{
	/* (B) pairs with (A). */
	atomic_store_explicit(&s->word, to, memory_order_release);
}

void young_init(void)
{
	slot_count = watch_fds_beside();
	if (slot_count > SLOTS_MAX)
		slot_count = SLOTS_MAX;
	for (uint32_t i = 0; i < slot_count; i++) {
		slots[i].event.fd = -1;
		give(&slots[i], FREE);
	}
}

/* A slot to open an event in, busy; NULL if there is none. */
static struct young_slot *find(uint64_t now)
{
	for (uint32_t i = 0; i < slot_count; i++)
		if (take(&slots[i], FREE))
			return &slots[i];
	for (uint32_t i = 0; i < slot_count; i++) {
		struct young_slot *s = &slots[i];
		int64_t owner =
			atomic_load_explicit(&s->word, memory_order_relaxed);
		uint64_t since =
			atomic_load_explicit(&s->since, memory_order_relaxed);

		if (owner != FREE && owner != BUSY &&
		    now > since + LOSES_AFTER_NS && take(s, owner)) {
			own_event_close(&s->event);
			return s;
		}
	}
	return NULL;
}

static bool open_event(struct young_slot *s, uint64_t first)
{
	struct perf_event_attr a = own_event_attr(
		PERF_TYPE_SOFTWARE, watch_cookie(WATCH_CLOCK) | CLOCK_OWN);

	a.config = PERF_COUNT_SW_TASK_CLOCK;
	a.sample_period = first;
	return !own_event_open(&s->event, &a, -1, watch_fd_base());
}

void young_begin(struct young *y, struct thread *t, uint32_t weight)
{
	uint64_t now = now_ns(), first;
	struct young_slot *s = find(now);

	y->slot = NULL;
	if (!s) {
		count_loss(t, LOSS_LATE_CLOCK);
		return;
	}
	y->weight = weight;
	first = phase_begin(&y->phase, thread_cpu_ns(),
			    runtime.period_ns * weight, &t->rng);
	if (!open_event(s, first)) {
		y->phase.own = false;
		give(s, FREE);
		count_loss(t, LOSS_LATE_CLOCK);
		return;
	}
	atomic_store_explicit(&s->since, now, memory_order_relaxed);
	give(s, t->tid);
	y->slot = s; /* from here on an interrupt may take it */
	sys_call3(SYS_ioctl, s->event.fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* True, and the slot is busy, if the thread still has one. */
static bool take_own(struct young *y, const struct thread *t)
{
	if (y->slot && take(y->slot, t->tid))
		return true;
	y->slot = NULL;
	y->phase.own = false;
	return false;
}

static void close_own(struct young *y)
{
	own_event_close(&y->slot->event);
	give(y->slot, FREE);
	y->slot = NULL;
	y->phase.own = false;
}

void young_end(struct young *y, struct thread *t)
{
	if (take_own(y, t))
		close_own(y);
}

bool young_takes(struct young *y, struct thread *t, bool own)
{
	uint64_t interval = 0;
	uint64_t cpu = y->phase.own || y->phase.half ? handler_cpu_at(t) : 0;
	bool sample;

	if (!y->slot || !take_own(y, t))
		return !own && phase_inherited(&y->phase, cpu, &t->rng);
	sample = own ? phase_own(&y->phase, cpu, runtime.period_ns * y->weight,
				 &interval)
		     : phase_inherited(&y->phase, cpu, &t->rng);
	if (y->phase.own && interval && own_event_is_open(&y->slot->event))
		sys_call3(SYS_ioctl, y->slot->event.fd, PERF_EVENT_IOC_PERIOD,
			  &interval);
	if (y->phase.own)
		give(y->slot, t->tid);
	else
		close_own(y);
	return sample;
}

void young_close_all(void)
{
	for (uint32_t i = 0; i < slot_count; i++) {
		struct young_slot *s = &slots[i];
		int64_t owner = atomic_load(&s->word);
		int tries = CLOSE_TRIES;

		while (owner != FREE && (owner == BUSY || !take(s, owner)) &&
		       --tries) {
			sys_call0(SYS_sched_yield);
			owner = atomic_load(&s->word);
		}
		if (owner == FREE || !tries)
			continue;
		own_event_close(&s->event);
		give(s, FREE);
	}
}

void young_after_fork(void)
{
	for (uint32_t i = 0; i < slot_count; i++) {
		if (atomic_load(&slots[i].word) == FREE)
			continue; /* a store would copy the page */
		own_event_close(&slots[i].event);
		give(&slots[i], FREE);
	}
}
