/* SPDX-License-Identifier: MIT */
/*
 * transfer - estimate transfers from the samples of the source instr
 *
 * Time is ns, CLOCK_MONOTONIC. A hook is called before its access. Software
 * watches are looked up by hooks too, so arming takes no time and accesses are
 * ordered by their hooks. With debug registers the sampled access itself traps
 * when it is made at last: it is the first store of its chain.
 */
#include <stdatomic.h>

#include "transfer.h"
#include "config.h"
#include "state.h"
#include "watch.h"
#include "preload/core/thread.h"
#include "preload/signal/claimed.h"
#include "preload/sources/sample.h"
#include "src/store/transfer_run.h"
#include "src/store/transfer_store.h"
#include "src/base/signal_mask.h"
#include "src/base/spin_lock.h"
#include "src/base/signal_safe.h"

enum {
	NEEDED = 12, /* lines that the second estimator watches */
};

/*
 * In software: whole lines that the estimator watches; then those of the
 * second one, then those of logs.
 */
static uint32_t lines_watched, lines_needed;

static struct transfer_run run;
static _Atomic uint64_t samples;
static _Atomic uint32_t tally_lock; /* the holder has all signals blocked */

/* Count the transfers of @c as detections, for the report's map. */
static void detect(struct thread *t, const struct transfer_chain *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct detection d = transfer_detection(&c->event[i], c->line,
							instr_config.period);

		sample_sink.detected(t, &d);
	}
}

static uint32_t first_log(void)
{
	return lines_watched + lines_needed;
}

static void log_access(struct thread *t, uint32_t slot, const struct access *a)
{
	if (!line_logs_access(run.logs, slot, t->record->id, a))
		return;
	instr_watch_line(first_log() + slot, 0);
	line_logs_idle(run.logs, slot);
}

static bool handlers_may_come(void)
{
	return atomic_load_explicit(&signal_handlers, memory_order_relaxed);
}

/*
 * A thread that traps for a microsecond at each access takes turns with others
 * as it does not otherwise, and the log would show that. So this runs in the
 * hook itself. A handler of the program that jumps out of it would leave the
 * lock behind: if the program has handlers, they wait.
 */
uint64_t instr_transfer_log(struct thread *t, const struct access *a,
			    uint64_t slots)
{
	uint64_t logs = run.logs ? slots >> first_log() : 0, before = 0;
	bool block = logs && handlers_may_come();
	uint32_t generation;

	if (block)
		before = signals_block_all();
	for (uint64_t left = logs; left; left &= left - 1) {
		uint32_t slot = __builtin_ctzll(left);

		if (!instr_watch_touches(first_log() + slot, a, &generation))
			continue;
		store_add(&t->record->traps, 1);
		log_access(t, slot, a);
	}
	if (block)
		signals_restore(before);
	return slots & ~(logs << first_log());
}

/* Watch a line for its log, if one is to be watched. */
static void log_chain(const struct transfer_chain *c)
{
	struct line_logs_order o = { 0, 0, 0 };

	if (run.logs)
		o = line_logs_found(run.logs, c);
	if (!o.watch)
		return;
	instr_watch_line(first_log() + o.slot, o.watch);
	line_logs_watching(run.logs, o.slot);
}

static void on_chain(void *ctx, const struct transfer_chain *c)
{
	log_chain(c);
	spin_lock(&tally_lock);
	transfer_tally_add(run.tally, c);
	spin_unlock(&tally_lock);
	detect(ctx, c);
}

static void on_needed(void *ctx, const struct transfer_chain *c)
{
	line_logs_needed(run.logs, c);
}

static int arm_needed(void *ctx, const struct transfer_watched *w, uint64_t now,
		      uint64_t *ready)
{
	struct transfer_watched there = *w;

	there.slot += lines_watched;
	return instr_software.arm(ctx, &there, now, ready);
}

static void disarm_needed(void *ctx, uint32_t slot)
{
	instr_software.disarm(ctx, lines_watched + slot);
}

static const struct transfer_watch watch_needed = { arm_needed, disarm_needed };
static const struct transfer_sink sink = { on_chain };
static const struct transfer_sink sink_needed = { on_needed };

/* Logs, and what tells about lines without one. */
static int log_lines(void)
{
	int r = transfer_run_log(&run, true);

	if (r || !lines_needed)
		return r;
	return transfer_run_needed(&run, lines_needed, TRANSFER_SPINS,
				   instr_config.period, &watch_needed,
				   &sink_needed);
}

bool instr_transfer_awaits(void)
{
	return run.transfer && run.awaits;
}

void instr_transfer_made(struct thread *t)
{
	if (!instr_of(t)->in_transfer)
		return;
	transfer_made(run.transfer, &instr_of(t)->transfer);
	if (run.needed)
		transfer_made(run.needed, &instr_of(t)->needed);
}

void instr_transfer_follow(struct thread *t)
{
	instr_of(t)->own = 0;
}

int instr_transfer_init(bool hardware, bool lines, uint32_t registers)
{
	struct transfer_config config = transfer_run_config(
		instr_config.algorithm == INSTR_EPOCH ? TRANSFER_EPOCH
						      : TRANSFER_CHAIN,
		instr_config.period, lines || !hardware, registers);
	int r;

	config.spins = TRANSFER_SPINS;
	lines_watched = (instr_config.reuse ? (int)INSTR_WATCHED_BESIDE
					    : (int)INSTR_WATCHED_LINES) -
			LINE_LOGS_SLOTS;
	lines_needed = hardware || instr_config.reuse ? 0 : (int)NEEDED;
	lines_watched -= lines_needed;
	config.awaits = !hardware && !instr_config.reuse;
	if (!hardware)
		config.slots = lines_watched;
	if (!instr_config.period) {
		transfer_run_release(&run);
		return 0;
	}
	atomic_store(&tally_lock, 0);
	atomic_store(&samples, 0);
	r = transfer_run_init(&run, &config,
			      hardware ? &instr_hardware : &instr_software,
			      &sink);
	return r || hardware ? r : log_lines();
}

void instr_transfer_start(struct thread *t)
{
	instr_of(t)->in_transfer =
		run.transfer &&
		transfer_run_join(&run, &instr_of(t)->transfer, t->record->id,
				  t, runtime.seed + 1);
	transfer_thread_init(&instr_of(t)->needed, t->record->id, t,
			     runtime.seed + 1);
	if (run.transfer && !instr_of(t)->in_transfer)
		count_loss(t, LOSS_NO_THREAD);
}

/*
 * The thread's own loads tell nothing about its sample, and would stop it while
 * others may touch the line.
 */
static void need_stores(struct thread *t, const struct transfer_awaited *x,
			uint32_t first)
{
	uint32_t slot = first + x->slot;

	if (!x->generation)
		return;
	instr_of(t)->own |= UINT64_C(1) << slot;
	instr_of(t)->need[slot].need = TRANSFER_NEED_STORES;
	instr_of(t)->need[slot].generation = x->generation;
}

void instr_transfer_sample(struct thread *t, const struct access *a)
{
	if (!instr_of(t)->in_transfer)
		return;
	/*
	 * Loads have counters of their own, and their samples are no
	 * candidates.
	 */
	if (a->flags & ACCESS_STORE)
		atomic_fetch_add_explicit(&samples, 1, memory_order_relaxed);
	transfer_sample(run.transfer, &instr_of(t)->transfer, a, t->clock_at,
			t->core);
	need_stores(t, &instr_of(t)->transfer.latest, 0);
	if (!run.needed)
		return;
	transfer_sample(run.needed, &instr_of(t)->needed, a, t->clock_at,
			t->core);
	need_stores(t, &instr_of(t)->needed.latest, lines_watched);
}

void instr_transfer_expect(struct thread *t)
{
	if (!instr_of(t)->in_transfer)
		return;
	atomic_fetch_add_explicit(&samples, 1, memory_order_relaxed);
	transfer_expect(run.transfer, &instr_of(t)->transfer, t->clock_at,
			t->core);
	if (run.needed)
		transfer_expect(run.needed, &instr_of(t)->needed, t->clock_at,
				t->core);
}

static void met(struct thread *t, const struct access *a)
{
	need_stores(t, &instr_of(t)->transfer.expected, 0);
	transfer_met(run.transfer, &instr_of(t)->transfer, a, t->core);
	if (!run.needed)
		return;
	need_stores(t, &instr_of(t)->needed.expected, lines_watched);
	transfer_met(run.needed, &instr_of(t)->needed, a, t->core);
}

/* As in instr_transfer_log, a handler would leave a lock behind. */
void instr_transfer_met(struct thread *t, const struct access *a)
{
	bool block = handlers_may_come();
	uint64_t before = 0;

	if (!instr_of(t)->in_transfer)
		return;
	if (block)
		before = signals_block_all();
	met(t, a);
	if (block)
		signals_restore(before);
}

void instr_transfer_end(struct thread *t)
{
	uint64_t before;

	if (!instr_of(t)->in_transfer)
		return;
	before = signals_block_all();
	transfer_give_up(run.transfer, &instr_of(t)->transfer, t->clock_at);
	if (run.needed)
		transfer_give_up(run.needed, &instr_of(t)->needed, t->clock_at);
	signals_restore(before);
}

/* Tell the estimator whose slot it is. */
static enum transfer_need trap(struct thread *t, uint32_t slot,
			       uint32_t generation, uint32_t range,
			       const struct access *a)
{
	if (run.needed && slot >= lines_watched)
		return transfer_trap(run.needed, &instr_of(t)->needed,
				     slot - lines_watched, generation, range, a,
				     t->clock_at, t->core);
	return transfer_trap(run.transfer, &instr_of(t)->transfer, slot,
			     generation, range, a, t->clock_at, t->core);
}

void instr_transfer_trap(struct thread *t, uint32_t slot, uint32_t generation,
			 uint32_t range, const struct access *a)
{
	if (!instr_of(t)->in_transfer)
		return;
	instr_of(t)->need[slot].need = trap(t, slot, generation, range, a);
	instr_of(t)->need[slot].generation = generation;
}

/* A trap would only stop the thread, while it touches the line. */
static bool awaits(uint32_t slot)
{
	if (run.needed && slot >= lines_watched)
		return transfer_awaits(run.needed, slot - lines_watched);
	return transfer_awaits(run.transfer, slot);
}

bool instr_transfer_may_need(const struct thread *t, uint32_t slot,
			     const struct access *a)
{
	uint32_t armed = instr_watch_generation(slot);

	if (!instr_of(t)->in_transfer)
		return false;
	if (run.logs && slot >= first_log())
		return line_logs_tells(run.logs, slot - first_log(),
				       t->record->id, a);
	if (instr_of(t)->need[slot].generation != armed)
		return true;
	return instr_of(t)->need[slot].need > TRANSFER_NEED_STORES ||
	       (instr_of(t)->need[slot].need == TRANSFER_NEED_STORES &&
		a->flags & ACCESS_STORE);
}

bool instr_transfer_needs(const struct thread *t, uint32_t slot,
			  const struct access *a)
{
	return !awaits(slot) && !(instr_of(t)->own >> slot & 1) &&
	       instr_transfer_may_need(t, slot, a);
}

void instr_transfer_finish(bool last)
{
	struct thread *t = thread_self();
	struct transfer_stats stats;
	struct transfer_sampling sampling = {
		.samples = (double)atomic_load(&samples),
	};
	uint64_t before;

	if (!run.transfer)
		return;
	/*
	 * Before exec the program's handlers still run. Their accesses may end
	 * a chain, which waits for the lock.
	 */
	before = signals_block_all();
	if (last && t && instr_of(t)->in_transfer) {
		transfer_finish(run.transfer, &instr_of(t)->transfer);
		if (run.needed)
			transfer_finish(run.needed, &instr_of(t)->needed);
	}
	sampling.jitter = run.awaits ? 1 : /* drawn independently: draw.c */
				  transfer_run_jitter(&run, sampling.samples);
	stats = transfer_stats(run.transfer);
	spin_lock(&tally_lock);
	transfer_run_store(&run, &runtime.store, &stats, &sampling);
	spin_unlock(&tally_lock);
	signals_restore(before);
}
