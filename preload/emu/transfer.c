/* SPDX-License-Identifier: MIT */
/*
 * transfer - estimate transfers, with simulated watches over all threads
 *
 * A watch is armed for all threads at once. Many lines are watched, each by a
 * slot; or, as debug registers would, a line by each register, or with chunks 8
 * bytes of one line by each. Arming takes config.arm_delay accesses.
 *
 * Each access is looked up in a table by the hash of its line. If the entry is
 * not 0, the line may be watched, or the line after it; then the slots that
 * watch a line with the same hash are compared. Once a thread's loads can tell
 * nothing more about an epoch, they are not told to the engine again: otherwise
 * a line that all threads read and nobody stores to any more would make each of
 * those loads slow.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "transfer.h"
#include "detections.h"
#include "frames.h"
#include "interval.h"
#include "now.h"
#include "state.h"
#include "src/store/transfer_run.h"
#include "src/store/transfer_store.h"

enum {
	LINE_BYTES = 64,
	SLOTS = EMU_WATCHED_LINES,
	NEEDED = EMU_NEEDED_LINES,
	SLOTS_ALL = SLOTS + NEEDED, /* the second estimator's follow the first's
				     */
	NO_SLOT = SLOTS_ALL,
	NO_LINE = 1, /* not the address of a line */
	BUCKETS = 1024,
	HITS_MAX = 16, /* slots that one access is told to, at most */
	SETTLE = 1000, /* accesses; a shorter gap in stores is no pause */
};

/* A slot whose ranges an access touches. */
struct hit {
	uint32_t slot, generation, range;
};

_Atomic uint8_t emu_watched[EMU_WATCHED];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t tally_lock = PTHREAD_MUTEX_INITIALIZER;
static struct transfer_watched slot[SLOTS_ALL];
static bool armed[SLOTS_ALL];
static uint16_t bucket[BUCKETS]; /* the first armed slot of its lines */
static uint16_t next_slot[SLOTS_ALL];
/* A copy for a look without the lock. */
static _Atomic uint64_t logged_line[LINE_LOGS_SLOTS];
/*
 * For each processor and slot: the generation for which the thread's loads tell
 * nothing more.
 */
static uint32_t told[EMU_VCPUS_MAX][SLOTS_ALL];
static struct transfer_run run;
static _Atomic uint64_t samples;

/*
 * Change the entry of @line and that of the line before. An entry that has
 * reached its maximum stays there. With the lock held.
 */
static void mark(uint64_t line, int change)
{
	for (int before = 0; before < 2; before++) {
		uint64_t i = (line - before * LINE_BYTES) >> EMU_LINE_SHIFT;
		_Atomic uint8_t *entry = &emu_watched[i % EMU_WATCHED];
		uint8_t n = atomic_load_explicit(entry, memory_order_relaxed);

		if (n < UINT8_MAX)
			atomic_store_explicit(entry, n + change,
					      memory_order_relaxed);
	}
}

static uint16_t *bucket_of(uint64_t line)
{
	return &bucket[(line >> EMU_LINE_SHIFT) % BUCKETS];
}

/* With the lock held. */
static void take_away(uint32_t n)
{
	uint16_t *at = bucket_of(slot[n].line);

	if (!armed[n])
		return;
	while (*at != n)
		at = &next_slot[*at];
	*at = next_slot[n];
	mark(slot[n].line, -1);
	armed[n] = false;
}

/* With the lock held. */
static void watch_with(uint32_t n, const struct transfer_watched *w)
{
	uint16_t *first = bucket_of(w->line);

	slot[n] = *w;
	armed[n] = true;
	next_slot[n] = *first;
	*first = n;
	mark(w->line, 1);
}

static int arm(void *ctx, const struct transfer_watched *w, uint64_t now,
	       uint64_t *ready)
{
	struct vcpu *v = ctx;

	pthread_mutex_lock(&lock);
	take_away(w->slot);
	watch_with(w->slot, w);
	pthread_mutex_unlock(&lock);
	*ready = now + emu.config.arm_delay;
	store_add(&v->record->arms, 1);
	return 0;
}

static void disarm(void *ctx, uint32_t n)
{
	pthread_mutex_lock(&lock);
	take_away(n);
	pthread_mutex_unlock(&lock);
}

/* Logs arm at once, and so does what tells about lines without one. */
static int arm_needed(void *ctx, const struct transfer_watched *w, uint64_t now,
		      uint64_t *ready)
{
	pthread_mutex_lock(&lock);
	take_away(SLOTS + w->slot);
	watch_with(SLOTS + w->slot, w);
	pthread_mutex_unlock(&lock);
	*ready = now;
	return 0;
}

static void disarm_needed(void *ctx, uint32_t n)
{
	disarm(ctx, SLOTS + n);
}

/* Begin or end to watch a line for its log. */
static void watch_for_log(const struct line_logs_order *o)
{
	pthread_mutex_lock(&lock);
	if (o->unwatch)
		mark(o->unwatch, -1);
	if (o->watch)
		mark(o->watch, 1);
	atomic_store_explicit(&logged_line[o->slot],
			      o->watch ? o->watch : NO_LINE,
			      memory_order_relaxed);
	pthread_mutex_unlock(&lock);
}

static void log_access(const struct vcpu *v, const struct access *a)
{
	for (uint32_t i = 0; i < LINE_LOGS_SLOTS; i++) {
		uint64_t line = atomic_load_explicit(&logged_line[i],
						     memory_order_relaxed);
		struct line_logs_order end = { .slot = i, .unwatch = line };

		if (line > access_last(a) || line + LINE_BYTES <= a->addr ||
		    !line_logs_tells(run.logs, i, v->transfer.id, a) ||
		    !line_logs_access(run.logs, i, v->transfer.id, a))
			continue;
		watch_for_log(&end);
		line_logs_idle(run.logs, i);
	}
}

static void on_chain(void *ctx, const struct transfer_chain *c)
{
	struct line_logs_order o = line_logs_found(run.logs, c);
	struct vcpu *v = ctx;
	struct detection d;

	if (o.watch) {
		watch_for_log(&o);
		line_logs_watching(run.logs, o.slot);
	}
	pthread_mutex_lock(&tally_lock);
	transfer_tally_add(run.tally, c);
	pthread_mutex_unlock(&tally_lock);
	for (uint32_t i = 0; i < c->n; i++) {
		d = transfer_detection(&c->event[i], c->line,
				       emu.config.period);
		v->now_ns = emu_now_ns(CLOCK_MONOTONIC);
		emu_detections_add(v, &d);
	}
}

static void on_needed(void *ctx, const struct transfer_chain *c)
{
	line_logs_needed(run.logs, c);
}

static const struct transfer_watch watch = { arm, disarm };
static const struct transfer_watch watch_needed = { arm_needed, disarm_needed };
static const struct transfer_sink sink = { on_chain };
static const struct transfer_sink sink_needed = { on_needed };

int emu_transfer_init(void)
{
	struct transfer_config config = transfer_run_config(
		emu.config.algorithm == EMU_EPOCH ? TRANSFER_EPOCH
						  : TRANSFER_CHAIN,
		emu.config.period, emu.config.watch_lines,
		emu.config.registers);
	int r;

	config.settle = SETTLE;
	if (emu.config.software)
		config.slots = SLOTS;
	pthread_mutex_init(&lock, NULL);
	pthread_mutex_init(&tally_lock, NULL);
	memset((void *)emu_watched, 0, sizeof(emu_watched));
	memset(armed, 0, sizeof(armed));
	memset(told, 0, sizeof(told));
	for (uint32_t i = 0; i < BUCKETS; i++)
		bucket[i] = NO_SLOT;
	atomic_store(&samples, 0);
	for (uint32_t n = 0; n < LINE_LOGS_SLOTS; n++)
		atomic_store(&logged_line[n], NO_LINE);
	r = transfer_run_init(&run, &config, &watch, &sink);
	/*
	 * Threads that take turns have no phases for which more windows would
	 * serve; with them the share that padding avoids came out too low.
	 */
	r = r ? r : transfer_run_log(&run, false);
	return r ? r
		 : transfer_run_needed(&run, NEEDED, 0, emu.config.period,
				       &watch_needed, &sink_needed);
}

void emu_transfer_start(struct vcpu *v)
{
	memset(told[v - emu.vcpu], 0, sizeof(told[0]));
	v->in_transfer = transfer_run_join(&run, &v->transfer, v->record->id, v,
					   emu.config.seed + 1);
	transfer_thread_init(&v->needed, v->record->id, v, emu.config.seed + 1);
	if (!v->in_transfer)
		store_add(&v->record->loss[LOSS_NO_THREAD], 1);
}

/* True if @a touches what slot @n watches; *@range is the first that it does.
 */
static bool touches(uint32_t n, const struct access *a, uint32_t *range)
{
	for (uint32_t i = 0; i < slot[n].n; i++) {
		struct access w = { .addr = slot[n].range[i].addr,
				    .len = slot[n].range[i].len };

		*range = i;
		if (access_overlaps(a, &w))
			return true;
	}
	return false;
}

/*
 * Find the slots that access @a of thread @v may tell something, among those
 * that watch @line. With the lock held. Returns their number.
 */
static uint32_t find_hits(const struct vcpu *v, const struct access *a,
			  uint64_t line, struct hit *hit, uint32_t n)
{
	for (uint32_t i = *bucket_of(line); i != NO_SLOT && n < HITS_MAX;
	     i = next_slot[i]) {
		if (slot[i].line != line ||
		    (!(a->flags & ACCESS_STORE) &&
		     told[v - emu.vcpu][i] == slot[i].generation) ||
		    !touches(i, a, &hit[n].range))
			continue;
		hit[n].slot = i;
		hit[n++].generation = slot[i].generation;
	}
	return n;
}

/* Tell the estimator whose slot it is. */
static enum transfer_need trap(struct vcpu *v, const struct hit *hit,
			       const struct access *a, uint64_t now)
{
	if (hit->slot >= SLOTS)
		return transfer_trap(run.needed, &v->needed, hit->slot - SLOTS,
				     hit->generation, hit->range, a, now,
				     v->core);
	store_add(&v->record->traps, 1);
	return transfer_trap(run.transfer, &v->transfer, hit->slot,
			     hit->generation, hit->range, a, now, v->core);
}

void emu_transfer_trap(struct vcpu *v, const struct access *a, uint64_t now)
{
	const uint64_t mask = -(uint64_t)LINE_BYTES;
	struct hit hit[HITS_MAX];
	uint32_t n;

	if (!v->in_transfer)
		return;
	log_access(v, a);
	pthread_mutex_lock(&lock);
	n = find_hits(v, a, a->addr & mask, hit, 0);
	if (((a->addr + a->len - 1) & mask) != (a->addr & mask))
		n = find_hits(v, a, (a->addr + a->len - 1) & mask, hit, n);
	pthread_mutex_unlock(&lock);
	if (n)
		emu_frames_path(v, a->ip);
	for (uint32_t i = 0; i < n; i++)
		if (trap(v, &hit[i], a, now) == TRANSFER_NEED_STORES)
			told[v - emu.vcpu][hit[i].slot] = hit[i].generation;
}

void emu_transfer_sample(struct vcpu *v, const struct access *a, uint32_t parts,
			 uint64_t now)
{
	if (!v->in_transfer)
		return;
	atomic_fetch_add_explicit(&samples, 1, memory_order_relaxed);
	transfer_sample_part(run.transfer, &v->transfer, a, parts, now,
			     v->core);
	transfer_sample_part(run.needed, &v->needed, a, parts, now, v->core);
}

void emu_transfer_finish(bool last)
{
	bool one_counter = emu.config.pmu == EMU_PMU_IBS;
	struct transfer_sampling sampling = { 0 };
	struct transfer_stats s;

	for (unsigned int i = 0; last && i < EMU_VCPUS_MAX; i++)
		if (emu.vcpu[i].record && emu.vcpu[i].in_transfer) {
			transfer_finish(run.transfer, &emu.vcpu[i].transfer);
			transfer_finish(run.needed, &emu.vcpu[i].needed);
			break;
		}
	pthread_mutex_lock(&tally_lock);
	s = transfer_stats(run.transfer);
	/* With two counters, samples of loads are no candidates. */
	sampling.samples =
		(double)(one_counter ? atomic_load(&samples) : s.candidates);
	sampling.jitter = one_counter
				  ? emu_interval_variance_ibs()
				  : transfer_run_jitter(&run, sampling.samples);
	transfer_run_store(&run, &emu.store, &s, &sampling);
	pthread_mutex_unlock(&tally_lock);
}
