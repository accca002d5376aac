/* SPDX-License-Identifier: MIT */
/*
 * thread_reuse - reuse times of each thread by its own registers (-m reuse)
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "program_memory.h"
#include "thread_reuse.h"
#include "preload/core/maps.h"
#include "preload/core/sys.h"
#include "preload/threads/thread_rows.h"
#include "preload/watch/watch.h"
#include "src/store/reuse_tally.h"
#include "src/engine/reuse_thread_regs.h"
#include "src/base/text.h"
#include "src/base/signal_safe.h"

enum {
	ALIGN = 64,
	TRIALS = 32, /* of the handler's cost, in a round */
	ROUNDS = 4,
};

/* One thread's, in a mapping of its own; the engine's memory follows. */
struct thread_reuse {
	struct reuse_thread_regs own;
	struct reuse_tally tally;
	uint64_t signals; /* handled since the thread began */
	/* While the handler is calibrated: the counts at its traps. */
	uint64_t counted[TRIALS];
	uint32_t trials;
	bool calibrating;
	bool echo;       /* the last late trap may come again */
	uint32_t pauses; /* pauses of the source when the registers were set */
};

static uint64_t per_signal; /* counts that our handler adds to each signal */
static uint64_t resolution; /* ns: shorter times are drowned by signals */
static uint64_t target __attribute__((aligned(64)));

static size_t head_bytes(void)
{
	return (sizeof(struct thread_reuse) + ALIGN - 1) / ALIGN * ALIGN;
}

static const struct source_reuse *ops(void)
{
	return runtime.source->reuse;
}

static uint32_t registers(void)
{
	uint32_t kept = ops()->registers;

	return runtime.registers > kept ? runtime.registers - kept
					: runtime.registers;
}

static size_t mapping_bytes(void)
{
	return head_bytes() + reuse_thread_regs_size(registers());
}

static void on_decided(void *ctx, const struct reuse_event *v)
{
	struct thread *t = ctx;
	uint64_t generation = maps_note(v->use.ip);

	if (v->end.flags && v->end.ip)
		generation = maps_note(v->end.ip);
	if (reuse_tally_add(&runtime.store, &t->reuse->tally, REUSE_PRIVATE,
			    REUSE_ADDRESS, v, generation))
		count_loss(t, LOSS_STORE_FULL);
	thread_mark_referenced(t->record->id);
}

static void on_lost(void *ctx, uint64_t weight)
{
	struct thread *t = ctx;

	store_add(&t->record->loss[LOSS_NO_REGISTER], weight);
}

void thread_reuse_begin(struct thread *t)
{
	static const struct reuse_thread_regs_sink sink = { on_decided,
							    on_lost };
	struct thread_reuse *r;
	long at;

	if (!(runtime.config.modes & CDP_MODE_REUSE) || t->reuse || !ops())
		return;
	at = sys_call6(SYS_mmap, 0, mapping_bytes(), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at < 0 && at > -4096) {
		count_loss(t, LOSS_NO_EVENT);
		return;
	}
	r = (struct thread_reuse *)at;
	r->tally.writer.section = CDP_REUSE;
	reuse_thread_regs_init(&r->own, (char *)r + head_bytes(), registers(),
			       t->record->id, &watch_ops, &sink, t,
			       runtime.seed ^ (uint64_t)t->tid << 20);
	t->reuse = r;
	store_set(&t->record->reuse_resolution, resolution);
}

/* The thread's count without what our handlers added. */
static bool count_now(struct thread *t, uint64_t *count)
{
	uint64_t ours = t->reuse->signals * per_signal;

	if (!ops()->count(t, count))
		return false;
	*count = *count > ours ? *count - ours : 0;
	return true;
}

void thread_reuse_end(struct thread *t)
{
	struct thread_reuse *r = t->reuse;
	uint64_t now;

	if (!r)
		return;
	if (count_now(t, &now))
		reuse_thread_regs_end(&r->own, now);
	reuse_tally_release(&r->tally);
	t->reuse = NULL;
	sys_call2(SYS_munmap, r, mapping_bytes());
}

static void drop_uses(struct thread *t)
{
	watch_ops.disarm(t);
	t->registers_lost = false;
	reuse_thread_regs_broken(&t->reuse->own);
}

void thread_reuse_drop(struct thread *t)
{
	if (t->reuse)
		drop_uses(t);
}

/*
 * If another thread took the registers, or the source was paused, the count
 * lacks some accesses: drop the current uses. Returns false while the source is
 * paused. Read the count before you call this: then a pause in between is
 * noticed.
 */
static bool look_after_registers(struct thread *t)
{
	bool paused = false;
	uint32_t pauses = ops()->pauses ? ops()->pauses(&paused) : 0;

	if (watch_is_held(t) && !t->registers_lost &&
	    t->reuse->pauses == pauses)
		return !paused;
	drop_uses(t);
	t->reuse->pauses = pauses;
	return !paused;
}

static void sample(struct thread *t, const struct access *a, bool ahead)
{
	uint64_t now;

	if (!count_now(t, &now)) {
		count_loss(t, LOSS_NO_EVENT);
		return;
	}
	if (!look_after_registers(t)) {
		on_lost(t, 1);
		return;
	}
	if (ahead)
		reuse_thread_regs_sample_ahead(&t->reuse->own, a, now);
	else
		reuse_thread_regs_sample(&t->reuse->own, a, now);
}

void thread_reuse_sample(struct thread *t, const struct access *a)
{
	sample(t, a, false);
}

void thread_reuse_sample_ahead(struct thread *t, const struct access *a)
{
	sample(t, a, true);
}

void thread_reuse_signal(struct thread *t)
{
	if (t->reuse)
		t->reuse->signals++;
}

static void take_trial(struct thread *t)
{
	struct thread_reuse *r = t->reuse;

	if (r->trials < TRIALS && ops()->count(t, &r->counted[r->trials]))
		r->trials++;
}

bool thread_reuse_takes_late(const struct thread *t)
{
	return t->reuse;
}

int thread_reuse_possible(char *why, size_t size)
{
	struct text t;
	int r = ops()->possible(why, size);

	if (r)
		return r;
	text_begin(&t, why, size);
	/* A queued signal comes late, and once for each arming. */
	if (runtime.delivery != DELIVERY_SIGTRAP) {
		text_put(&t, "-m reuse needs synchronous signals: Linux 5.19");
		return -ENODEV;
	}
	if (!runtime.registers) {
		text_put(&t, "-m reuse needs debug registers: ");
		text_put(&t, runtime.store.header->registers_reason);
		return -ENODEV;
	}
	return 0;
}

void thread_reuse_trap(struct thread *t, int reg, const struct cpu_state *cpu)
{
	struct reuse_thread_regs *own = &t->reuse->own;
	const struct watch_range *range;
	struct access a;
	uint64_t now;
	bool known;

	t->reuse->echo = false;
	if (t->reuse->calibrating) {
		take_trial(t);
	} else if (!count_now(t, &now)) {
		count_loss(t, LOSS_NO_EVENT);
	} else {
		look_after_registers(t);
		range = reuse_thread_regs_range(own, reg);
		known = range && program_trapped(t, cpu, range, &a);
		if (range && !known)
			count_loss(t, LOSS_TRAP_INEXACT);
		reuse_thread_regs_trap(own, reg, known ? &a : NULL, now);
	}
}

void thread_reuse_late(struct thread *t, int reg)
{
	struct thread_reuse *r = t->reuse;

	/* This handler may have trapped too, before it disarmed. */
	r->echo = !r->echo;
	if (!r->echo || r->calibrating)
		return;
	look_after_registers(t);
	reuse_thread_regs_spoil(&r->own, reg);
}

/* Sort the counts between traps into @sorted; return how many there are. */
static uint32_t between(const struct thread_reuse *r, uint64_t *sorted)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < r->trials; i++) {
		uint64_t v = r->counted[i] - r->counted[i - 1];
		uint32_t at = n++;

		for (; at && sorted[at - 1] > v; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = v;
	}
	return n;
}

/*
 * Times vary, and other programs only lengthen them: so take the lower
 * quartile, of the quickest round. What a signal takes in the program, with
 * cold caches, differs from that by a good part of itself. So no time shorter
 * than a signal is told.
 */
static void set_time(struct thread *t, const uint64_t *sorted, uint32_t n)
{
	uint64_t spread = sorted[n * 3 / 4] - sorted[n / 4];

	if (per_signal && per_signal <= sorted[n / 4])
		return;
	per_signal = sorted[n / 4];
	resolution = spread > per_signal ? spread : per_signal;
	store_set(&t->record->reuse_resolution, resolution);
}

/* Trap on our own store some times; returns how many counts lie in @sorted. */
static uint32_t try_traps(struct thread *t, uint64_t *sorted)
{
	const struct watch_range range = { (uintptr_t)&target, sizeof(target) };
	struct thread_reuse *r = t->reuse;

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
	return between(r, sorted);
}

/*
 * If the source counts accesses, the smallest count between two traps is what
 * the handler adds, plus 1 for the store that trapped. A virtual machine may be
 * slow for as long as a round of times takes: one of 16 was five times too
 * long.
 */
void thread_reuse_calibrate(void)
{
	struct thread *t = thread_self();
	uint64_t sorted[TRIALS];
	uint32_t n;

	if (!t || !t->reuse)
		return;
	per_signal = 0;
	for (int i = 0; i < (ops()->counts_accesses ? 1 : ROUNDS); i++) {
		n = try_traps(t, sorted);
		if (n && ops()->counts_accesses)
			per_signal = sorted[0] ? sorted[0] - 1 : 0;
		else if (n)
			set_time(t, sorted, n);
	}
}
