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
#include "preload/sources/sample.h"
#include "src/store/transfer_run.h"
#include "src/store/transfer_store.h"
#include "src/base/signal_mask.h"
#include "src/base/spin_lock.h"
#include "src/base/signal_safe.h"

enum {
	/* Whole lines watched at once; then those of logs. */
	SLOTS_LINES = INSTR_WATCHED_LINES - LINE_LOGS_SLOTS,
};
_Static_assert((int)SLOTS_LINES + (int)LINE_LOGS_SLOTS <=
		       (int)INSTR_WATCHED_LINES,
	       "slots in software");

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

static void log_access(struct thread *t, uint32_t slot, const struct access *a)
{
	if (!line_logs_access(run.logs, slot, t->record->id, a))
		return;
	instr_watch_line(SLOTS_LINES + slot, 0);
	line_logs_idle(run.logs, slot);
}

/* Watch a line for its log, if one is to be watched. */
static void log_chain(const struct transfer_chain *c)
{
	struct line_logs_order o = { 0, 0, 0 };

	if (run.logs)
		o = line_logs_found(run.logs, c);
	if (!o.watch)
		return;
	instr_watch_line(SLOTS_LINES + o.slot, o.watch);
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

static const struct transfer_sink sink = { on_chain };

int instr_transfer_init(bool hardware, bool lines, uint32_t registers)
{
	struct transfer_config config = transfer_run_config(
		instr_config.algorithm == INSTR_EPOCH ? TRANSFER_EPOCH
						      : TRANSFER_CHAIN,
		instr_config.period, lines || !hardware, registers);
	int r;

	config.spins = TRANSFER_SPINS;
	if (!hardware)
		config.slots = SLOTS_LINES;
	if (!instr_config.period) {
		transfer_run_release(&run);
		return 0;
	}
	atomic_store(&tally_lock, 0);
	atomic_store(&samples, 0);
	r = transfer_run_init(&run, &config,
			      hardware ? &instr_hardware : &instr_software,
			      &sink);
	return r || hardware ? r : transfer_run_log(&run);
}

void instr_transfer_start(struct thread *t)
{
	instr_of(t)->in_transfer =
		run.transfer &&
		transfer_run_join(&run, &instr_of(t)->transfer, t->record->id,
				  t, runtime.seed + 1);
	if (run.transfer && !instr_of(t)->in_transfer)
		count_loss(t, LOSS_NO_THREAD);
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
}

void instr_transfer_trap(struct thread *t, uint32_t slot, uint32_t generation,
			 uint32_t range, const struct access *a)
{
	if (!instr_of(t)->in_transfer)
		return;
	if (run.logs && slot >= SLOTS_LINES) {
		log_access(t, slot - SLOTS_LINES, a);
		return;
	}
	instr_of(t)->need[slot].need =
		transfer_trap(run.transfer, &instr_of(t)->transfer, slot,
			      generation, range, a, t->clock_at, t->core);
	instr_of(t)->need[slot].generation = generation;
}

bool instr_transfer_needs(const struct thread *t, uint32_t slot, uint32_t flags)
{
	if (!instr_of(t)->in_transfer)
		return false;
	if (run.logs && slot >= SLOTS_LINES)
		return true;
	if (instr_of(t)->need[slot].generation != instr_watch_generation(slot))
		return true;
	return instr_of(t)->need[slot].need > TRANSFER_NEED_STORES ||
	       (instr_of(t)->need[slot].need == TRANSFER_NEED_STORES &&
		flags & ACCESS_STORE);
}

void instr_transfer_finish(bool last)
{
	struct thread *t = thread_self();
	struct transfer_stats stats;
	double jitter = 1.0 / INSTR_JITTER_SHARE;
	struct transfer_sampling sampling = {
		.samples = (double)atomic_load(&samples),
		.jitter = jitter * jitter / 12,
	};
	uint64_t before;

	if (!run.transfer)
		return;
	/*
	 * Before exec the program's handlers still run. Their accesses may end
	 * a chain, which waits for the lock.
	 */
	before = signals_block_all();
	if (last && t && instr_of(t)->in_transfer)
		transfer_finish(run.transfer, &instr_of(t)->transfer);
	stats = transfer_stats(run.transfer);
	spin_lock(&tally_lock);
	transfer_run_store(&run, &runtime.store, &stats, &sampling);
	spin_unlock(&tally_lock);
	signals_restore(before);
}
