/* SPDX-License-Identifier: MIT */
/*
 * pmu_samples - the hardware events of each thread, and what they sampled
 *
 * A sample is an access with address and instruction; the instruction tells its
 * width (src/x86/decode/sampled.h). Each thread has events of its own
 * (src/pmu/thread.h), since an inherited event cannot have a ring, and without
 * a ring nobody knows the instruction. They lie in a bounded number of slots; a
 * thread that gets none is not sampled, and that is counted. The clock runs as
 * well, slowly: it finds threads that no hook saw, and resumes threads that
 * were stopped because they spent too much time in our handler.
 *
 * Our own accesses are user code as well: the events are off while the handler
 * works, for a sample, a trap or a tick alike. Samples taken before they are
 * off are recognized by their instruction and dropped.
 *
 * The engine counts time in ns, the events count accesses. So the source
 * measures how long an interval lasts, over all threads, and the engine's
 * expiry follows it.
 *
 * Context: handler of the thread, except where it says another.
 */
#include <errno.h>
#include <stdatomic.h>

#include "pmu_samples.h"
#include "preload/core/sys.h"
#include "preload/core/timing.h"
#include "preload/handler/handler.h"
#include "preload/sources/callers.h"
#include "preload/sources/clock/clock.h"
#include "preload/sources/our_code.h"
#include "preload/sources/program_memory.h"
#include "preload/sources/sample.h"
#include "preload/sources/thread_reuse.h"
#include "preload/threads/threads.h"
#include "preload/watch/watch.h"
#include "src/pmu/kernel.h"
#include "src/pmu/thread.h"
#include "src/x86/decode/sampled.h"
#include "src/base/signal_safe.h"

enum {
	SLOTS = 256,
	GAP_MAX_NS = 50 * 1000 * 1000, /* longer: the thread slept */
	GAP_WEIGHT = 32,
	DEBT_MAX_NS = 20 * 1000 * 1000,
	RECORD_AGE_MAX_NS = 1000 * 1000 * 1000,
};

/* The hardware events of one thread. */
struct pmu_slot {
	_Atomic(uint32_t) owner; /* tid, 0: free */
	bool off;                /* until its debt is paid */
	struct pmu_thread events;
};

struct pmu_plan pmu_plan;

static struct pmu_slot slots[SLOTS];
static _Atomic bool paused;
static _Atomic uint32_t pauses;                    /* so far */
static _Atomic uint64_t gap_ns = PMU_GAP_FIRST_NS; /* mean, of all threads */

static struct pmu_own *own(const struct thread *t)
{
	return t->source;
}

/*
 * Switch the events on, unless all are paused. Whoever pauses all sets the flag
 * before switching the events off. So if the flag is still clear after we
 * switched ours on, the pause will switch them off.
 */
static void switch_on(struct pmu_slot *slot)
{
	if (atomic_load(&paused))
		return;
	pmu_thread_resume(&slot->events);
	if (atomic_load(&paused))
		pmu_thread_pause(&slot->events);
}

void pmu_samples_count(struct thread *t)
{
	struct cdp_thread *r = t->record;
	struct pmu_counts n;
	const struct pmu_thread *p;
	uint64_t taken = r->samples[SAMPLE_UNIFORM];
	double accesses;

	if (!own(t)->slot)
		return;
	p = &own(t)->slot->events;
	pmu_thread_counts(p, &n);
	if (pmu_plan.source == PMU_IBS) {
		/*
		 * The accesses are all ops times the share of accesses among
		 * the sampled ops. All ops are those that retired, if an event
		 * counts them, else the samples times the period. Loads and
		 * stores divide the accesses as they divide the samples taken.
		 */
		if (!taken)
			return;
		if (!n.ops)
			n.ops = p->user_samples * pmu_plan.period;
		accesses = (double)n.ops * p->memory_samples / p->user_samples;
		n.loads = accesses * r->loads / taken;
		n.stores = accesses * r->stores / taken;
		n.scaled = true;
	}
	store_set(&r->counted_loads, n.loads);
	store_set(&r->counted_stores, n.stores);
	store_set(&r->counted_scaled, n.scaled);
}

static struct pmu_slot *take_slot(struct thread *t)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		uint32_t none = 0;

		/*
		 * (P) acquires what (Q) released: the slot as its last owner
		 * left it.
		 */
		if (atomic_compare_exchange_strong_explicit(
			    &slots[i].owner, &none, t->tid,
			    memory_order_acquire, memory_order_relaxed))
			return &slots[i];
	}
	return NULL;
}

void pmu_samples_begin(struct thread *t)
{
	const struct pmu_delivery how = {
		.sigtrap = runtime.delivery == DELIVERY_SIGTRAP,
		.sig_data = watch_cookie(WATCH_SOURCE),
		.signal = runtime.delivery == DELIVERY_SIGTRAP ? 0
							       : runtime.signal,
		.tid = t->tid,
		/*
		 * A queued signal names a descriptor, and one that comes after
		 * its event is recognized by a high number.
		 */
		.fd_base = runtime.delivery == DELIVERY_SIGTRAP
				   ? watch_fd_base_for(SLOTS * pmu_plan.events)
				   : watch_fd_base(),
	};
	struct pmu_slot *slot;

	if (own(t)->slot)
		return;
	slot = take_slot(t);
	if (!slot) {
		count_loss(t, LOSS_NO_EVENT);
		return;
	}
	slot->off = false;
	if (pmu_thread_open(&slot->events, &perf_kernel_linux, &pmu_plan, &how,
			    &t->rng, NULL)) {
		/* (Q) pairs with (P). */
		atomic_store_explicit(&slot->owner, 0, memory_order_release);
		count_loss(t, LOSS_NO_EVENT);
		return;
	}
	own(t)->slot = slot;
	thread_reuse_begin(t);
	switch_on(slot);
}

void pmu_samples_end(struct thread *t)
{
	struct pmu_slot *slot = own(t)->slot;

	if (!slot)
		return;
	pmu_thread_pause(&slot->events);
	pmu_samples_count(t);
	thread_reuse_end(t);
	own(t)->slot = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	pmu_thread_close(&slot->events);
	/* (Q) pairs with (P). */
	atomic_store_explicit(&slot->owner, 0, memory_order_release);
}

bool pmu_samples_has_descriptor(const struct thread *t, int fd)
{
	return t && own(t)->slot && pmu_thread_has(&own(t)->slot->events, fd);
}

/* The program may have closed it: then it has a file of its own there. */
static bool is_event(int fd)
{
	uint64_t id = 0;

	return !perf_kernel_linux.ioctl(perf_kernel_linux.ctx, fd,
					PERF_EVENT_IOC_ID, (uintptr_t)&id);
}

bool pmu_samples_has_anywhere(int fd)
{
	for (uint32_t i = 0; i < SLOTS; i++)
		if (atomic_load(&slots[i].owner) &&
		    pmu_thread_has(&slots[i].events, fd))
			return is_event(fd);
	return false;
}

void pmu_samples_pause(void)
{
	clock_pause();
	atomic_store(&paused, true);
	atomic_fetch_add(&pauses, 1);
	for (uint32_t i = 0; i < SLOTS; i++)
		if (atomic_load(&slots[i].owner))
			pmu_thread_pause(&slots[i].events);
}

/*
 * Each thread draws its intervals itself; here its events are only switched on.
 */
void pmu_samples_resume(void)
{
	clock_resume();
	atomic_store(&paused, false);
	for (uint32_t i = 0; i < SLOTS; i++)
		if (atomic_load(&slots[i].owner))
			pmu_thread_switch_on(&slots[i].events);
}

void pmu_samples_after_fork(void)
{
	clock_close();
	for (uint32_t i = 0; i < SLOTS; i++) {
		/* The kernel has not copied the mapping of the ring. */
		slots[i].events.ring.page = NULL;
		pmu_thread_close(&slots[i].events);
		atomic_store(&slots[i].owner, 0);
	}
	atomic_store(&paused, false);
}

static void put_sample(void *ctx, const struct pmu_sample *s)
{
	struct thread *t = ctx;
	uint64_t time = s->fields.time;
	struct memory m = program_memory(t, s->fields.ip);
	struct access a;
	int r;

	if (our_code_has(s->fields.ip)) {
		count_loss(t, LOSS_REENTRANT);
		return;
	}
	r = decode_sampled(&m, s->fields.ip, s->memory.addr,
			   s->memory.access & (ACCESS_LOAD | ACCESS_STORE),
			   s->memory.len, &a);
	if (r && !s->memory.len) {
		count_loss(t, r == -EFAULT ? LOSS_UNREADABLE : LOSS_UNDECODED);
		return;
	}
	if (s->memory.access & ACCESS_LOCKED && s->memory.access & ACCESS_STORE)
		a.flags |= ACCESS_LOCKED;
	/*
	 * A time in the future, or long past, is not of our clock: take the
	 * time of the handler instead.
	 */
	if (time > t->clock_at || t->clock_at - time > RECORD_AGE_MAX_NS)
		time = t->clock_at;
	callers_of_sample(t, own(t)->cpu, &a);
	sample_hardware(t, &a, time, s->fields.cpu);
}

static void put_loss(void *ctx, enum loss_cause cause, uint64_t n)
{
	struct thread *t = ctx;

	store_add(&t->record->loss[cause], n);
}

/* A thread's interval lasted @ns: update the mean of all threads. */
static void learn_gap(uint64_t ns)
{
	int64_t mean = atomic_load_explicit(&gap_ns, memory_order_relaxed);

	if (ns > GAP_MAX_NS)
		return;
	/*
	 * If two threads get here at once, one of the two intervals is
	 * forgotten.
	 */
	mean += ((int64_t)ns - mean) / GAP_WEIGHT;
	atomic_store_explicit(&gap_ns, mean, memory_order_relaxed);
	comm_set_expiry(&runtime.comm, mean);
	store_set(&runtime.store.header->expiry, comm_expiry(&runtime.comm));
	store_set(&runtime.store.header->watch_expiry,
		  comm_watch_expiry(&runtime.comm));
}

static void take_samples(struct thread *t)
{
	static const struct pmu_sink sink = { put_sample, put_loss };
	struct pmu_slot *slot = own(t)->slot;
	uint64_t before;

	if (!slot)
		return;
	thread_reuse_signal(t);
	store_touch(&runtime.store, t->clock_at);
	before = slot->events.user_samples;
	if (own(t)->sampled_at)
		learn_gap(t->clock_at - own(t)->sampled_at);
	own(t)->sampled_at = t->clock_at;
	pmu_thread_drain(&slot->events, &sink, t);
	store_add(&t->record->interrupts, slot->events.user_samples - before);
	thread_refresh(t);
	handler_cpu_at(t);
	slot->off = t->budget.debt_ns > DEBT_MAX_NS;
	if (slot->off) {
		count_loss(t, LOSS_BUDGET);
		thread_reuse_drop(t);
	}
}

static void ignore_sample(void *ctx, const struct pmu_sample *s)
{
}

static void ignore_loss(void *ctx, enum loss_cause cause, uint64_t n)
{
}

void pmu_samples_skip(struct thread *t, const struct watch_signal *s)
{
	static const struct pmu_sink nobody = { ignore_sample, ignore_loss };

	if (s->event != WATCH_SOURCE || !own(t)->slot)
		return;
	pmu_thread_pause(&own(t)->slot->events);
	pmu_thread_drain(&own(t)->slot->events, &nobody, NULL);
	switch_on(own(t)->slot);
}

void pmu_samples_enter(struct thread *t)
{
	if (own(t)->slot)
		pmu_thread_pause(&own(t)->slot->events);
}

void pmu_samples_leave(struct thread *t, const struct watch_signal *s)
{
	if (own(t)->slot && !own(t)->slot->off)
		switch_on(own(t)->slot);
}

uint32_t pmu_samples_pauses(bool *now)
{
	uint32_t n = atomic_load(&pauses);

	*now = atomic_load(&paused);
	return n;
}

bool pmu_samples_accesses(struct thread *t, uint64_t *accesses)
{
	return own(t)->slot &&
	       pmu_thread_accesses(&own(t)->slot->events, accesses);
}

void pmu_samples_disarm_after_stop(struct thread *t,
				   const struct watch_signal *s)
{
	if (s->event == WATCH_SOURCE && own(t)->slot)
		pmu_thread_pause(&own(t)->slot->events);
}

static void tick(struct thread *t)
{
	thread_reuse_signal(t);
	threads_reap(t);
	if (!own(t)->slot) {
		pmu_samples_begin(t);
		return;
	}
	if (own(t)->slot->off)
		handler_cpu_at(t);
	if (t->budget.debt_ns < DEBT_MAX_NS / 2)
		own(t)->slot->off = false;
}

void pmu_samples_on_signal(struct thread *t, const struct watch_signal *s,
			   const struct cpu_state *cpu)
{
	switch (s->event) {
	case WATCH_CLOCK:
		tick(t);
		break;
	case WATCH_SOURCE:
		own(t)->cpu = cpu;
		take_samples(t);
		break;
	default:
		if (s->event == WATCH_DATA && !s->late)
			thread_reuse_signal(t);
		sample_trap(t, s, cpu);
		break;
	}
}
