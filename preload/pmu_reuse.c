/* SPDX-License-Identifier: MIT */
/*
 * pmu_reuse - reuse times from PEBS and IBS samples (-m reuse)
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "pmu_reuse.h"
#include "pmu_source.h"
#include "state.h"
#include "sys.h"
#include "watch.h"
#include "src/reuse_own.h"
#include "src/reuse_tally.h"
#include "signal_safe.h"

enum {
	ALIGN = 64,
	TRIALS = 32, /* of the handler */
};

/* Of a thread, in a mapping of its own; the engine follows. */
struct pmu_reuse {
	struct reuse_own own;
	struct reuse_tally tally;
	uint64_t signals; /* handled since the events were opened */
	/* While the handler is measured: what it counted; how often. */
	uint64_t counted[TRIALS];
	uint32_t trials;
	bool calibrating;
};

static uint64_t per_signal; /* accesses of the handler that are counted */
static uint64_t target __attribute__((aligned(64)));

static size_t head_bytes(void)
{
	return (sizeof(struct pmu_reuse) + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t mapping_bytes(void)
{
	return head_bytes() + reuse_own_size(runtime.registers);
}

static void on_decided(void *ctx, const struct reuse_event *v)
{
	struct thread *t = ctx;
	uint64_t generation = maps_note(v->use.ip);

	if (v->end.flags && v->end.ip)
		generation = maps_note(v->end.ip);
	if (reuse_tally_add(&runtime.store, &t->reuse->tally, REUSE_PRIVATE,
			    REUSE_ADDRESS, v, generation))
		lose(t, LOSS_STORE_FULL);
}

static void on_lost(void *ctx, uint64_t weight)
{
	struct thread *t = ctx;

	store_add(&t->record->loss[LOSS_NO_REGISTER], weight);
}

void pmu_reuse_begin(struct thread *t)
{
	static const struct reuse_own_sink sink = { on_decided, on_lost };
	struct pmu_reuse *r;
	long at;

	if (!(runtime.config.modes & CDP_MODE_REUSE) || t->reuse)
		return;
	at = sys_call6(SYS_mmap, 0, mapping_bytes(), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -4096) {
		lose(t, LOSS_NO_EVENT);
		return;
	}
	r = (struct pmu_reuse *)at;
	r->tally.writer.section = CDP_REUSE;
	reuse_own_init(&r->own, (char *)r + head_bytes(), runtime.registers,
		       t->record->id, &watch_ops, &sink, t,
		       runtime.seed ^ (uint64_t)t->tid << 20);
	t->reuse = r;
}

/* Accesses of the program; the events are off. */
static bool count_now(struct thread *t, uint64_t *accesses)
{
	struct pmu_reuse *r = t->reuse;
	uint64_t ours = r->signals * per_signal;

	if (!pmu_source_accesses(t, accesses))
		return false;
	*accesses = *accesses > ours ? *accesses - ours : 0;
	return true;
}

void pmu_reuse_end(struct thread *t)
{
	struct pmu_reuse *r = t->reuse;
	uint64_t now;

	if (!r)
		return;
	if (count_now(t, &now))
		reuse_own_end(&r->own, now);
	reuse_tally_release(&r->tally);
	t->reuse = NULL;
	sys_call2(SYS_munmap, r, mapping_bytes());
}

/* Another thread may have needed the registers. */
static void look_after_registers(struct thread *t)
{
	if (!watch_is_held(t))
		reuse_own_broken(&t->reuse->own);
}

void pmu_reuse_sample(struct thread *t, const struct access *a)
{
	uint64_t now;

	if (!count_now(t, &now)) {
		lose(t, LOSS_NO_EVENT);
		return;
	}
	look_after_registers(t);
	reuse_own_sample(&t->reuse->own, a, now);
}

void pmu_reuse_signal(struct thread *t)
{
	if (t->reuse)
		t->reuse->signals++;
}

static void take_trial(struct thread *t)
{
	struct pmu_reuse *r = t->reuse;

	if (r->trials < TRIALS &&
	    pmu_source_accesses(t, &r->counted[r->trials]))
		r->trials++;
}

void pmu_reuse_trap(struct thread *t, int reg, const struct cpu_state *cpu)
{
	struct reuse_own *own = &t->reuse->own;
	const struct watch_range *range;
	struct access a;
	uint64_t now;
	bool known;

	pmu_source_hold(t);
	pmu_reuse_signal(t);
	if (t->reuse->calibrating) {
		take_trial(t);
	} else if (!count_now(t, &now)) {
		lose(t, LOSS_NO_EVENT);
	} else {
		look_after_registers(t);
		range = reuse_own_range(own, reg);
		known = range && sample_trapped(t, cpu, range, &a);
		if (range && !known)
			lose(t, LOSS_TRAP_INEXACT);
		reuse_own_trap(own, reg, known ? &a : NULL, now);
	}
	pmu_source_let_go(t);
}

/* The least that came between two traps, but the store that trapped. */
void pmu_reuse_calibrate(void)
{
	struct thread *t = thread_self();
	const struct watch_range range = { (uintptr_t)&target, sizeof(target) };
	struct pmu_reuse *r = t ? t->reuse : NULL;
	uint64_t least = UINT64_MAX;

	if (!r)
		return;
	r->trials = 0;
	r->calibrating = true;
	atomic_signal_fence(memory_order_seq_cst);
	if (watch_ops.arm(t, &range, 1) == 1)
		for (int i = 0; i < TRIALS; i++)
			*(volatile uint64_t *)&target = i;
	watch_ops.disarm(t);
	store_set(&t->record->traps, 0);
	atomic_signal_fence(memory_order_seq_cst);
	r->calibrating = false;
	for (uint32_t i = 1; i < r->trials; i++)
		if (r->counted[i] - r->counted[i - 1] < least)
			least = r->counted[i] - r->counted[i - 1];
	if (least != UINT64_MAX && least > 0)
		per_signal = least - 1;
}
