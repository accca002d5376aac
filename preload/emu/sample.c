/* SPDX-License-Identifier: MIT */
/*
 * sample - a simulated PMU and simulated debug registers
 *
 * A sample is the access at which a counter overflows, without skid
 * (interval.h). The engines measure time in accesses of all threads.
 *
 * A debug register traps after an access that touches its bytes. The engine
 * arms registers on one line at a time, so each access is compared once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sample.h"
#include "detections.h"
#include "frames.h"
#include "interval.h"
#include "maps.h"
#include "now.h"
#include "parts.h"
#include "reuse.h"
#include "scheduler.h"
#include "state.h"
#include "transfer.h"
#include "vcpu.h"
#include "src/base/zero_pages.h"
#include "src/store/sample_log.h"

enum {
	LINE_BYTES = 64,
	WIDEST_BYTES = 128, /* 1 << EMU_CLASS_SHIFT */
	REFRESH_EVERY = 64, /* samples between two looks at the thread's name */
};

static int arm(void *ctx, const struct watch_range *ranges, int n)
{
	struct vcpu *v = ctx;
	uint64_t low = UINT64_MAX, high = 0;

	for (int i = 0; i < n; i++) {
		uint64_t end = ranges[i].addr + ranges[i].len;

		v->watched[i] = ranges[i];
		low = ranges[i].addr < low ? ranges[i].addr : low;
		high = end > high ? end : high;
	}
	v->watches = n;
	/* An access that touches [low, high) begins in this range. */
	v->watch_low = low - (WIDEST_BYTES - 1);
	v->watch_span = high - v->watch_low;
	store_add(&v->record->arms, 1);
	return n;
}

static void disarm(void *ctx)
{
	struct vcpu *v = ctx;

	v->watches = 0;
	v->watch_span = 0;
}

static void lost(void *ctx, enum loss_cause cause)
{
	struct vcpu *v = ctx;

	store_add(&v->record->loss[cause], 1);
}

static void detected(void *ctx, const struct detection *d)
{
	emu_detections_add(ctx, d);
}

static const struct comm_watch registers = { arm, disarm };
static const struct comm_sink sink = { detected, lost };

int emu_sample_init(void)
{
	struct comm *c = &emu.comm;
	size_t bytes = board_size(emu.config.board_slots);
	void *mem = (void *)c->board;

	if (!mem)
		mem = zero_pages(bytes);
	if (!mem)
		return -ENOMEM;
	memset(mem, 0, bytes);
	c->line_bytes = LINE_BYTES;
	c->chunk_bytes = 8;
	c->board = board_init(mem, emu.config.board_slots, c->line_bytes);
	c->registers = emu.config.registers;
	c->watch = c->registers ? &registers : NULL;
	c->sink = &sink;
	comm_set_expiry(c, emu.config.period);
	c->arm_one_in = 1;
	atomic_store(&emu.ticks, 0);
	emu_detections_init();
	return c->board ? 0 : -EINVAL;
}

void emu_sample_start(struct vcpu *v)
{
	uint32_t id = v->record->id;

	v->class_mask = emu_interval_one_counter() ? 0 : EMU_CLASS_STORE;
	rng_seed(&v->rng, emu.config.seed, id);
	rng_seed(&v->turn_rng, emu.config.seed + 1000, id);
	if (emu.config.algorithm != EMU_COMDETECTIVE)
		emu_transfer_start(v);
	comm_thread_init(&v->comm, id, v, ~emu.config.seed);
	/* Make the first access an event: the new thread itself handles it. */
	v->until[EMU_LOADS] = 0;
	v->until[EMU_STORES] = 0;
	v->turn = v->turn_start = EMU_TURN_ACCESS - 1;
}

static void trap(struct vcpu *v, const struct access *a)
{
	for (uint32_t i = 0; i < v->watches; i++) {
		struct access w = { .addr = v->watched[i].addr,
				    .len = v->watched[i].len };

		if (!access_overlaps(a, &w))
			continue;
		v->now_ns = emu_now_ns(CLOCK_MONOTONIC);
		store_add(&v->record->traps, 1);
		emu_frames_path(v, a->ip);
		comm_trap(&emu.comm, &v->comm, i, a, atomic_load(&emu.ticks),
			  v->core);
		return;
	}
}

static bool outside_the_time_asked_for(uint64_t now)
{
	const struct emu_config *c = &emu.config;

	return now < emu.start_mono + c->delay_ns ||
	       (c->duration_ns &&
		now >= emu.start_mono + c->delay_ns + c->duration_ns);
}

/* @a is the sample; as part of an access of several, that is @whole. */
static void sample(struct vcpu *v, const struct access *a,
		   const struct access *whole, enum emu_counter counter)
{
	struct cdp_thread *r = v->record;
	uint64_t now = emu_scheduler_ticks(v);

	emu_interval_load(v, counter);
	v->now_ns = emu_now_ns(CLOCK_MONOTONIC);
	store_touch(&emu.store, v->now_ns);
	if (v->events++ % REFRESH_EVERY == 0)
		emu_vcpu_refresh(v);
	store_add(&r->interrupts, 1);
	if (outside_the_time_asked_for(v->now_ns))
		return;
	store_add(&r->samples[SAMPLE_UNIFORM], 1);
	emu_detections_sample(v);
	if (a->flags & ACCESS_LOAD)
		store_add(&r->loads, 1);
	if (a->flags & ACCESS_STORE)
		store_add(&r->stores, 1);
	sample_log_add(r->id, a, SAMPLE_UNIFORM);
	emu_frames_path(v, a->ip);
	if (v->in_transfer)
		emu_transfer_sample(v, whole,
				    (whole->len + a->len - 1) / a->len, now);
	if (v->in_reuse)
		emu_reuse_sample(v, a);
	if (emu.config.algorithm == EMU_COMDETECTIVE &&
	    emu_measures(CDP_MODE_COMM))
		comm_sample(&emu.comm, &v->comm, whole, now, v->core);
}

/* The thread has begun to run. Find out what only it can find out. */
static void begin(struct vcpu *v, const struct access *a)
{
	emu_vcpu_refresh(v);
	emu_scheduler_begin(v);
	if (!v->record) { /* the program has ended meanwhile */
		emu_vcpu_mute(v);
		return;
	}
	if (!v->record->id) {
		atomic_store(&emu.stack, a->addr);
		emu_maps_init();
	}
	if (emu.config.period) {
		/*
		 * The first interval has a random length, so that a thread with
		 * half a period's accesses is sampled in half of all runs
		 * rather than never.
		 */
		emu_interval_begin(v, EMU_LOADS);
		emu_interval_begin(v, EMU_STORES);
	} else {
		v->until[EMU_LOADS] = INT64_MAX;
		v->until[EMU_STORES] = INT64_MAX;
	}
}

/*
 * Part @a of access @whole was made. The watches see the access once, at its
 * first part.
 */
static void handle(struct vcpu *v, const struct access *a,
		   const struct access *whole, bool first, bool last)
{
	if (!v->record) { /* it is not profiled */
		emu_vcpu_mute(v);
		return;
	}
	if (!v->tid) {
		begin(v, a);
		return;
	}
	if (first && v->watches)
		trap(v, whole);
	if (first && v->in_transfer && emu_transfer_watches(whole->addr))
		emu_transfer_trap(v, whole, emu_scheduler_ticks(v));
	if (v->in_reuse)
		emu_reuse_trap(v, a);
	for (enum emu_counter c = 0; c < EMU_COUNTERS; c++)
		if (v->until[c] < 0)
			sample(v, a, whole, c);
	if (last && v->turn < 0)
		emu_scheduler_end(v);
}

void emu_sample_event(struct vcpu *v, unsigned int class, uint64_t addr,
		      uint64_t ip)
{
	struct access a = emu_make_access(class, addr, ip);

	handle(v, &a, &a, true, true);
}

void emu_sample_part(struct vcpu *v, unsigned int class, const struct access *a,
		     bool first)
{
	enum emu_counter counter =
		(class & v->class_mask) ? EMU_STORES : EMU_LOADS;

	const struct access *whole = &v->parts.whole;
	bool watched =
		v->in_reuse ||
		(first &&
		 (whole->addr - v->watch_low < v->watch_span ||
		  (v->in_transfer && emu_transfer_watches(whole->addr))));

	v->count[class]++;
	if ((--v->until[counter] < 0) | ((v->turn -= EMU_TURN_ACCESS) < 0) |
	    watched)
		handle(v, a, whole, first, !emu_parts_inside(v));
}
