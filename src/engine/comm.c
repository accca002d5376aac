/* SPDX-License-Identifier: MIT */
/*
 * comm - which threads exchange cache lines (ComDetective's Algorithm 1)
 *
 * This file follows Algorithm 1 of M. A. Sasongko's thesis (2022).
 * docs/algorithm.md gives the reasons where the thesis leaves a choice and
 * where we differ.
 *
 * All of it runs in the handler of the thread that owns the comm_thread.
 * Threads share nothing but the board, and no call to the board waits.
 */
#include <string.h>

#include "comm.h"
#include "src/base/signal_safe.h"

/* The later of two readings may be the smaller: clocks of cores disagree. */
static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

void comm_set_expiry(struct comm *c, uint64_t interval)
{
	uint64_t most = UINT64_MAX / COMM_EXPIRY_INTERVALS;

	atomic_store_explicit(&c->expiry,
			      interval < most ? COMM_EXPIRY_INTERVALS * interval
					      : UINT64_MAX,
			      memory_order_relaxed);
	atomic_store_explicit(&c->watch_expiry, interval, memory_order_relaxed);
}

static uint32_t rate_of(const _Atomic uint32_t *rate)
{
	uint32_t r = atomic_load_explicit(rate, memory_order_relaxed);

	return r ? r : 1;
}

void comm_set_rate(struct comm *c, uint32_t intervals, uint64_t now)
{
	atomic_store_explicit(&c->rate_before, rate_of(&c->rate),
			      memory_order_relaxed);
	atomic_store_explicit(&c->rated_at, now, memory_order_relaxed);
	atomic_store_explicit(&c->rate, intervals, memory_order_relaxed);
}

uint64_t comm_expiry(const struct comm *c)
{
	return atomic_load_explicit(&c->expiry, memory_order_relaxed);
}

uint64_t comm_watch_expiry(const struct comm *c)
{
	return atomic_load_explicit(&c->watch_expiry, memory_order_relaxed);
}

/*
 * An entry is recent for expiry ticks, or since the thread's previous sample if
 * that is longer ago. A thread that seldom runs seldom samples, and would
 * otherwise find every entry expired.
 *
 * An entry lives by the rate at which it was published. If a low rate prolonged
 * the lives of entries that came at a high one, its samples, which weigh more,
 * would also find more.
 */
static void set_window(const struct comm *c, struct comm_thread *t,
		       uint64_t now)
{
	uint64_t gap = t->sampled ? distance(now, t->sampled_at) : 0;
	uint64_t expiry = comm_expiry(c);
	uint64_t life = expiry * rate_of(&c->rate);
	uint64_t before = expiry * rate_of(&c->rate_before);
	bool seldom = gap > life && gap > before;

	t->window = gap > life ? gap - 1 : life;
	t->window_before = seldom ? gap - 1 : before;
	t->sampled = true;
	t->sampled_at = now;
}

static bool is_recent(const struct comm *c, const struct comm_thread *t,
		      const struct board_entry *e, uint64_t now)
{
	uint64_t rated =
		atomic_load_explicit(&c->rated_at, memory_order_relaxed);

	return distance(now, e->time) <=
	       (e->time < rated ? t->window_before : t->window);
}

/*
 * True if this thread has detected the entry or a later one. Each publication
 * counts once per thread.
 */
static bool is_seen(const struct comm_thread *t, const struct board_entry *e)
{
	return e->time < t->seen_before;
}

static void mark_seen(struct comm_thread *t, const struct board_entry *e)
{
	if (!is_seen(t, e))
		t->seen_before = e->time + 1;
}

/*
 * Choose the line that this sample is about: any line of the access, each with
 * equal probability. One sample reads the board once, however long the access.
 */
static uint64_t draw_line(const struct comm *c, struct comm_thread *t,
			  const struct access *a)
{
	uint64_t first = board_line(c->board, a->addr);
	uint64_t last = board_line(c->board, access_last(a));
	uint64_t lines = (last - first) / c->line_bytes + 1;

	return lines == 1 ? first
			  : first + rng_below(&t->rng, lines) * c->line_bytes;
}

static void lost(const struct comm *c, struct comm_thread *t,
		 enum loss_cause cause)
{
	c->sink->lost(t->ctx, cause);
}

/*
 * Sharing is true if the accesses have a byte in common. That byte is on this
 * line even if both accesses reach beyond it, since three intervals that
 * overlap in pairs have a common point.
 */
static void detected(const struct comm *c, struct comm_thread *t,
		     const struct board_entry *e, const struct access *a,
		     enum detected_by by, uint32_t core, uint32_t periods_q8,
		     uint32_t weight)
{
	struct detection d = {
		.publisher = e->store,
		.detector = *a,
		.line = e->line,
		.publisher_thread = e->thread,
		.detector_thread = t->id,
		.publisher_core = e->core,
		.detector_core = core,
		.publisher_path = e->path,
		.detector_path = t->path,
		.sharing = access_overlaps(&e->store, a) ? SHARING_TRUE
							 : SHARING_FALSE,
		.by = by,
		.periods_q8 = periods_q8,
		.weight = weight,
	};

	mark_seen(t, e);
	c->sink->detected(t->ctx, &d);
}

static void disarm(const struct comm *c, struct comm_thread *t)
{
	if (!t->armed)
		return;
	t->armed = 0;
	c->watch->disarm(t->ctx);
}

/*
 * Choose an entry to watch, each candidate with equal probability. The whole
 * board is read: stopping at the first candidate after a random slot would
 * favour those behind long gaps, and drawing slots until one fits fails where
 * candidates are few, as they usually are.
 */
static bool choose_target(const struct comm *c, struct comm_thread *t,
			  uint64_t now, struct board_entry *target)
{
	uint32_t slots = board_slots(c->board);
	uint64_t candidates = 0;
	struct board_entry e;

	for (uint32_t i = 0; i < slots; i++) {
		if (board_read_slot(c->board, i, &e) != 1 ||
		    e.thread == t->id || !is_recent(c, t, &e, now) ||
		    is_seen(t, &e) ||
		    (c->reaches && !c->reaches(t->ctx, e.line)))
			continue;
		if (rng_below(&t->rng, ++candidates) == 0)
			*target = e;
	}
	return candidates > 0;
}

/*
 * Choose distinct chunks of @line in random order. The first k of them are a
 * random set for every k, so it does no harm if only some can be armed.
 */
static uint32_t choose_chunks(const struct comm *c, struct comm_thread *t,
			      uint64_t line)
{
	uint32_t bytes =
		c->chunk_bytes < c->line_bytes ? c->chunk_bytes : c->line_bytes;
	uint32_t chunks = c->line_bytes / bytes;
	uint32_t n = c->registers < COMM_REGISTERS_MAX ? c->registers
						       : COMM_REGISTERS_MAX;
	uint32_t taken[COMM_REGISTERS_MAX]; /* ascending */

	n = n < chunks ? n : chunks;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t pick = rng_below(&t->rng, chunks - i), j;

		/* Turn a number among the chunks left into one of all. */
		for (j = 0; j < i && taken[j] <= pick; j++)
			pick++;
		memmove(&taken[j + 1], &taken[j], (i - j) * sizeof(taken[0]));
		taken[j] = pick;
		t->ranges[i].addr = line + (uint64_t)pick * bytes;
		t->ranges[i].len = bytes;
	}
	return n;
}

static void try_arm(const struct comm *c, struct comm_thread *t, uint64_t now)
{
	struct board_entry target;
	int wanted, armed;

	if (!c->watch || !c->registers)
		return;
	if (t->armed && distance(now, t->armed_at) <= comm_watch_expiry(c))
		return;
	if ((c->arm_one_in > 1 && rng_below(&t->rng, c->arm_one_in)) ||
	    !choose_target(c, t, now, &target)) {
		disarm(c, t);
		return;
	}

	wanted = choose_chunks(c, t, target.line);
	armed = c->watch->arm(t->ctx, t->ranges, wanted);
	t->armed = armed > 0 ? (armed < wanted ? armed : wanted) : 0;
	if (!t->armed) {
		lost(c, t, LOSS_NO_REGISTER);
		return;
	}
	t->target = target;
	t->armed_weight = t->weight;
	t->armed_at = now;
}

static void publish(const struct comm *c, struct comm_thread *t, uint64_t line,
		    const struct access *a, uint64_t now, uint32_t core)
{
	struct board_entry e = {
		.line = line,
		.time = now,
		.store = *a,
		.thread = t->id,
		.core = core,
		.path = t->path,
	};

	if (board_publish(c->board, &e))
		lost(c, t, LOSS_BOARD_BUSY);
}

void comm_thread_init(struct comm_thread *t, uint32_t id, void *ctx,
		      uint64_t seed)
{
	memset(t, 0, sizeof(*t));
	t->id = id;
	t->ctx = ctx;
	t->weight = 1;
	rng_seed(&t->rng, seed, id);
}

void comm_sample(struct comm *c, struct comm_thread *t, const struct access *a,
		 uint64_t now, uint32_t core)
{
	uint64_t line = draw_line(c, t, a);
	struct board_entry e;
	bool known;
	int found;

	if (!line)
		return;
	set_window(c, t, now);

	found = board_read(c->board, line, &e);
	if (found < 0)
		lost(c, t, LOSS_BOARD_BUSY);
	known = found > 0 && is_recent(c, t, &e, now);

	if (known && e.thread != t->id && !is_seen(t, &e)) {
		/* The thread has touched the line that its registers watch. */
		if (t->armed && t->target.line == line)
			disarm(c, t);
		detected(c, t, &e, a, DETECTED_BY_BOARD, core, 256, t->weight);
	} else {
		try_arm(c, t, now);
	}

	if (access_stores(a) && !known && found >= 0)
		publish(c, t, line, a, now, core);
}

void comm_trap(struct comm *c, struct comm_thread *t, int reg,
	       const struct access *a, uint64_t now, uint32_t core)
{
	struct access watched = { 0 };
	uint32_t periods_q8;

	if ((uint32_t)reg >= t->armed) {
		lost(c, t, LOSS_TRAP_STALE);
		return;
	}
	watched.addr = t->ranges[reg].addr;
	watched.len = t->ranges[reg].len;
	periods_q8 = 256 * c->line_bytes / (t->armed * watched.len);
	disarm(c, t);

	/* An access that misses the watched bytes did not trap. */
	if (!a || !access_overlaps(a, &watched)) {
		lost(c, t, LOSS_TRAP_INEXACT);
		a = &watched;
	}
	detected(c, t, &t->target, a, DETECTED_BY_TRAP, core, periods_q8,
		 t->armed_weight);
}

void comm_trap_late(struct comm *c, struct comm_thread *t)
{
	disarm(c, t);
	lost(c, t, LOSS_TRAP_STALE);
}

void comm_stop(struct comm *c, struct comm_thread *t)
{
	disarm(c, t);
}
