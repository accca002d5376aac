/* SPDX-License-Identifier: MIT */
/*
 * transfer - estimate transfers from the samples of the source instr
 *
 * Time is ns, CLOCK_MONOTONIC. Hooks are called before their access. So with
 * software watches, which hooks look at too, arming takes no time and the
 * order of accesses is that of the hooks; with debug registers the sampled
 * access itself traps when it is made at last, being the first store of its
 * chain.
 */
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "transfer.h"
#include "config.h"
#include "state.h"
#include "watch.h"
#include "preload/core/thread.h"
#include "preload/sources/sample.h"
#include "src/store/transfer_store.h"
#include "src/base/signal_safe.h"

enum {
	LINE_BYTES = 64,
	CHUNK_BYTES = 8,
	THREADS = TRANSFER_THREADS_MAX,
	SLOTS_LINES = 4, /* whole lines watched at once */
};

static struct transfer *transfer;
static struct transfer_tally *tally;
static size_t transfer_bytes, tally_bytes;
static _Atomic uint64_t samples;
static _Atomic uint32_t ids; /* of threads: all are below */
static atomic_flag tally_lock = ATOMIC_FLAG_INIT;
static struct store_writer writer;

/*
 * Held by threads that block all signals, for some hundreds of instructions:
 * the holder runs on.
 */
static void lock_tally(void)
{
	while (atomic_flag_test_and_set_explicit(&tally_lock,
						 memory_order_acquire))
		sched_yield();
}

static void unlock_tally(void)
{
	atomic_flag_clear_explicit(&tally_lock, memory_order_release);
}

static void on_chain(void *ctx, const struct transfer_chain *c)
{
	struct detection d;

	lock_tally();
	transfer_tally_add(tally, c);
	unlock_tally();
	for (uint32_t i = 0; i < c->n; i++) {
		d = transfer_detection(&c->event[i], c->line,
				       instr_config.period);
		sample_sink.detected(ctx, &d);
	}
}

static const struct transfer_sink sink = { on_chain };

static void *map_zeros(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

int instr_transfer_init(bool hardware, bool lines, uint32_t registers)
{
	struct transfer_config config = {
		.kind = instr_config.algorithm == INSTR_EPOCH ? TRANSFER_EPOCH
							      : TRANSFER_CHAIN,
		.threads = THREADS,
		.slots = !hardware ? SLOTS_LINES
			 : lines   ? registers
				   : 1,
		.line_bytes = LINE_BYTES,
		.chunk_bytes = lines ? LINE_BYTES : CHUNK_BYTES,
		.ranges = lines ? 1 : registers,
		.spins = TRANSFER_SPINS,
		.period = (double)instr_config.period,
	};
	void *a, *b;

	if (transfer)
		munmap(transfer, transfer_bytes);
	if (tally)
		munmap(tally, tally_bytes);
	transfer = NULL;
	tally = NULL;
	if (!instr_config.period)
		return 0;
	transfer_bytes = transfer_size(&config);
	tally_bytes = transfer_tally_size(THREADS);
	if (!transfer_bytes)
		return -EINVAL;
	a = map_zeros(transfer_bytes);
	b = map_zeros(tally_bytes);
	if (a == MAP_FAILED || b == MAP_FAILED)
		return -ENOMEM;
	atomic_flag_clear(&tally_lock);
	atomic_store(&samples, 0);
	atomic_store(&ids, 0);
	writer = (struct store_writer){ .section = CDP_TRANSFERS };
	transfer = transfer_init(a, &config,
				 hardware ? &instr_hardware : &instr_software,
				 &sink);
	tally = transfer_tally_init(b, THREADS);
	return transfer && tally ? 0 : -EINVAL;
}

void instr_transfer_start(struct thread *t)
{
	uint32_t id = t->record->id, seen = atomic_load(&ids);

	instr_of(t)->in_transfer = transfer && id < THREADS;
	if (!instr_of(t)->in_transfer) {
		if (transfer)
			count_loss(t, LOSS_NO_THREAD);
		return;
	}
	while (seen <= id && !atomic_compare_exchange_weak(&ids, &seen, id + 1))
		;
	transfer_thread_init(&instr_of(t)->transfer, id, t, runtime.seed + 1);
}

void instr_transfer_sample(struct thread *t, const struct access *a)
{
	if (!instr_of(t)->in_transfer)
		return;
	/* Loads have counters of their own, and their samples tell nothing. */
	if (a->flags & ACCESS_STORE)
		atomic_fetch_add_explicit(&samples, 1, memory_order_relaxed);
	transfer_sample(transfer, &instr_of(t)->transfer, a, t->clock_at,
			t->core);
}

void instr_transfer_trap(struct thread *t, uint32_t slot, uint32_t generation,
			 uint32_t range, const struct access *a)
{
	if (!instr_of(t)->in_transfer)
		return;
	instr_of(t)->need[slot].need =
		transfer_trap(transfer, &instr_of(t)->transfer, slot,
			      generation, range, a, t->clock_at, t->core);
	instr_of(t)->need[slot].generation = generation;
}

bool instr_transfer_needs(const struct thread *t, uint32_t slot, uint32_t flags)
{
	if (!instr_of(t)->in_transfer)
		return false;
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

	if (!transfer)
		return;
	if (last && t && instr_of(t)->in_transfer)
		transfer_finish(transfer, &instr_of(t)->transfer);
	stats = transfer_stats(transfer);
	lock_tally();
	transfer_store(&runtime.store, &writer, tally, &stats,
		       atomic_load(&ids),
		       &(struct transfer_sampling){
			       .samples = (double)atomic_load(&samples),
			       .jitter = jitter * jitter / 12,
		       });
	unlock_tally();
}
