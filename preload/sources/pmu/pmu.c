/* SPDX-License-Identifier: MIT */
/*
 * pmu - PEBS and IBS as what delivers samples
 *
 * A sample is an access with address and instruction; the instruction tells
 * its width (decode_sampled). Our own accesses are user code as well: the
 * events are off while the handler works, and what was sampled in between is
 * told by its instruction.
 *
 * The engine counts time in ns, the events count accesses. How long an
 * interval lasts is measured, over all threads, and the engine's expiry
 * follows it.
 */
#include <errno.h>
#include <stdatomic.h>

#include "preload/handler/budget.h"
#include "src/x86/decode/sampled.h"
#include "pmu.h"
#include "preload/core/runtime.h"
#include "preload/core/state.h"
#include "preload/core/sys.h"
#include "preload/sources/thread_reuse.h"
#include "preload/watch/watch.h"
#include "src/pmu/kernel.h"
#include "src/pmu/thread.h"
#include "src/base/signal_safe.h"

enum {
	SLOTS = 256,
	GAP_FIRST_NS = 200 * 1000,
	GAP_MAX_NS = 50 * 1000 * 1000, /* longer: the thread slept */
	GAP_WEIGHT = 32,
	DEBT_MAX_NS = 20 * 1000 * 1000,
	RECORD_AGE_MAX_NS = 1000 * 1000 * 1000,
};

struct pmu_slot {
	_Atomic(uint32_t) owner; /* tid, 0: free */
	bool off;                /* until its debt is paid */
	struct pmu_thread pmu;
};

static struct pmu_slot slots[SLOTS];
static _Atomic bool paused;
static _Atomic uint32_t pauses;                /* so far */
static _Atomic uint64_t gap_ns = GAP_FIRST_NS; /* mean, of all threads */

extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool is_our_code(uint64_t ip)
{
	return ip >= (uintptr_t)__ehdr_start && ip < (uintptr_t)etext;
}

/* On, unless all are to be off; who pauses all sets the flag first. */
static void let_go(struct pmu_slot *slot)
{
	if (atomic_load(&paused))
		return;
	pmu_thread_resume(&slot->pmu);
	if (atomic_load(&paused))
		pmu_thread_pause(&slot->pmu);
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

void pmu_source_thread_begin(struct thread *t)
{
	const struct pmu_delivery how = {
		.sigtrap = runtime.delivery == DELIVERY_SIGTRAP,
		.sig_data = watch_cookie(WATCH_PMU),
		.signal = runtime.delivery == DELIVERY_SIGTRAP ? 0
							       : runtime.signal,
		.tid = t->tid,
		.fd_base = watch_fd_base(),
	};
	struct pmu_slot *slot;

	if (t->pmu)
		return;
	slot = take_slot(t);
	if (!slot) {
		lose(t, LOSS_NO_EVENT);
		return;
	}
	slot->off = false;
	if (pmu_thread_open(&slot->pmu, &perf_kernel_linux, pmu_source_chosen(),
			    &how, &t->rng, NULL)) {
		/* (Q) pairs with (P). */
		atomic_store_explicit(&slot->owner, 0, memory_order_release);
		lose(t, LOSS_NO_EVENT);
		return;
	}
	t->pmu = slot;
	thread_reuse_begin(t);
	let_go(slot);
}

void pmu_source_thread_end(struct thread *t)
{
	struct pmu_slot *slot = t->pmu;

	if (!slot)
		return;
	pmu_thread_pause(&slot->pmu);
	pmu_source_count(t);
	thread_reuse_end(t);
	t->pmu = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	pmu_thread_close(&slot->pmu);
	/* (Q) pairs with (P). */
	atomic_store_explicit(&slot->owner, 0, memory_order_release);
}

bool pmu_source_has(const struct thread *t, int fd)
{
	return t && t->pmu && pmu_thread_has(&t->pmu->pmu, fd);
}

void pmu_source_pause(void)
{
	atomic_store(&paused, true);
	atomic_fetch_add(&pauses, 1);
	for (uint32_t i = 0; i < SLOTS; i++)
		if (atomic_load(&slots[i].owner))
			pmu_thread_pause(&slots[i].pmu);
}

/* Each thread draws its intervals itself; here they are only switched on. */
void pmu_source_resume(void)
{
	atomic_store(&paused, false);
	for (uint32_t i = 0; i < SLOTS; i++)
		if (atomic_load(&slots[i].owner))
			pmu_thread_switch_on(&slots[i].pmu);
}

void pmu_source_after_fork(void)
{
	for (uint32_t i = 0; i < SLOTS; i++) {
		/* The kernel has not copied the mapping of the ring. */
		slots[i].pmu.ring.page = NULL;
		pmu_thread_close(&slots[i].pmu);
		atomic_store(&slots[i].owner, 0);
	}
	atomic_store(&paused, false);
}

static void put_sample(void *ctx, const struct pmu_sample *s)
{
	struct thread *t = ctx;
	uint64_t time = s->fields.time;
	struct memory m = sample_memory(t, s->fields.ip);
	struct access a;
	int r;

	if (is_our_code(s->fields.ip)) {
		lose(t, LOSS_REENTRANT);
		return;
	}
	r = decode_sampled(&m, s->fields.ip, s->memory.addr,
			   s->memory.access & (ACCESS_LOAD | ACCESS_STORE),
			   s->memory.len, &a);
	if (r && !s->memory.len) {
		lose(t, r == -EFAULT ? LOSS_UNREADABLE : LOSS_UNDECODED);
		return;
	}
	if (s->memory.access & ACCESS_LOCKED && s->memory.access & ACCESS_STORE)
		a.flags |= ACCESS_LOCKED;
	/* The clock of the record is ours; a kernel may know no other. */
	if (time > t->clock_at || t->clock_at - time > RECORD_AGE_MAX_NS)
		time = t->clock_at;
	sample_hardware(t, &a, time, s->fields.cpu);
}

static void put_loss(void *ctx, enum loss_cause cause, uint64_t n)
{
	struct thread *t = ctx;

	store_add(&t->record->loss[cause], n);
}

void pmu_source_expiry(void)
{
	comm_set_expiry(&runtime.comm, GAP_FIRST_NS);
}

/* An interval lasted @ns; the mean of all threads follows. */
static void learn_gap(uint64_t ns)
{
	int64_t mean = atomic_load_explicit(&gap_ns, memory_order_relaxed);

	if (ns > GAP_MAX_NS)
		return;
	/* Two threads at once: one of the two is forgotten. */
	mean += ((int64_t)ns - mean) / GAP_WEIGHT;
	atomic_store_explicit(&gap_ns, mean, memory_order_relaxed);
	comm_set_expiry(&runtime.comm, mean);
	store_set(&runtime.store.header->expiry, comm_expiry(&runtime.comm));
	store_set(&runtime.store.header->watch_expiry,
		  comm_watch_expiry(&runtime.comm));
}

/* The thread's time pays for time in the handler. */
static void pay(struct thread *t)
{
	if (t->paid_at)
		t->debt_ns = budget_pay(t->debt_ns, t->cpu_at - t->paid_at);
	t->paid_at = t->cpu_at;
}

void pmu_source_signal(struct thread *t)
{
	static const struct pmu_sink sink = { put_sample, put_loss };
	struct pmu_slot *slot = t->pmu;
	uint64_t before;

	if (!slot)
		return;
	pmu_thread_pause(&slot->pmu);
	thread_reuse_signal(t);
	pay(t);
	store_touch(&runtime.store, t->clock_at);
	before = slot->pmu.user_samples;
	if (t->sampled_at)
		learn_gap(t->clock_at - t->sampled_at);
	t->sampled_at = t->clock_at;
	pmu_thread_drain(&slot->pmu, &sink, t);
	store_add(&t->record->interrupts, slot->pmu.user_samples - before);
	thread_refresh(t);
	slot->off = t->debt_ns > DEBT_MAX_NS;
	if (slot->off)
		lose(t, LOSS_BUDGET);
	else
		let_go(slot);
}

static void ignore_sample(void *ctx, const struct pmu_sample *s)
{
}

static void ignore_loss(void *ctx, enum loss_cause cause, uint64_t n)
{
}

void pmu_source_skip(struct thread *t)
{
	static const struct pmu_sink nobody = { ignore_sample, ignore_loss };

	if (!t->pmu)
		return;
	pmu_thread_pause(&t->pmu->pmu);
	pmu_thread_drain(&t->pmu->pmu, &nobody, NULL);
	let_go(t->pmu);
}

void pmu_source_hold(struct thread *t)
{
	if (t->pmu)
		pmu_thread_pause(&t->pmu->pmu);
}

void pmu_source_let_go(struct thread *t)
{
	if (t->pmu && !t->pmu->off)
		let_go(t->pmu);
}

uint32_t pmu_source_pauses(bool *now)
{
	uint32_t n = atomic_load(&pauses);

	*now = atomic_load(&paused);
	return n;
}

bool pmu_source_accesses(struct thread *t, uint64_t *accesses)
{
	return t->pmu && pmu_thread_accesses(&t->pmu->pmu, accesses);
}

void pmu_source_silence(struct thread *t)
{
	if (t->pmu)
		pmu_thread_pause(&t->pmu->pmu);
}

void pmu_source_tick(struct thread *t)
{
	pay(t);
	if (!t->pmu) {
		pmu_source_thread_begin(t);
		return;
	}
	if (t->pmu->off && t->debt_ns < DEBT_MAX_NS / 2) {
		t->pmu->off = false;
		let_go(t->pmu);
	}
}

void pmu_source_count(struct thread *t)
{
	const struct pmu_plan *plan = pmu_source_chosen();
	struct cdp_thread *r = t->record;
	struct pmu_counts n;
	const struct pmu_thread *p;
	uint64_t taken = r->samples[SAMPLE_UNIFORM];
	double accesses;

	if (!t->pmu)
		return;
	p = &t->pmu->pmu;
	pmu_thread_counts(p, &n);
	if (plan->source == PMU_IBS) {
		/*
		 * The share of accesses in the sampled ops, of all ops: those
		 * that retired where they are counted, else the intervals. Of
		 * them loads and stores as in the samples that were taken.
		 */
		if (!taken)
			return;
		if (!n.ops)
			n.ops = p->user_samples * plan->period;
		accesses = (double)n.ops * p->memory_samples / p->user_samples;
		n.loads = accesses * r->loads / taken;
		n.stores = accesses * r->stores / taken;
		n.scaled = true;
	}
	store_set(&r->counted_loads, n.loads);
	store_set(&r->counted_stores, n.stores);
	store_set(&r->counted_scaled, n.scaled);
}
