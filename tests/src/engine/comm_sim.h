/* SPDX-License-Identifier: MIT */
/*
 * comm_sim - a small simulated machine that drives the engine in tests
 *
 * Up to 64 threads make accesses that a pattern generates, one per step, in
 * random order. Each thread has a periodic sampler with jitter, and debug
 * registers that trap on its own accesses. Each access has an ip of its own, so
 * the ip of a store identifies its publication. The simulation records all
 * samples and checks each detection against them; assertions that hold for
 * every pattern are here.
 */
#ifndef COMDET_TESTS_SRC_ENGINE_COMM_SIM_H
#define COMDET_TESTS_SRC_ENGINE_COMM_SIM_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "src/engine/comm.h"

enum {
	SIM_THREADS = 64,
	SIM_LINE = 64,
	SIM_TRAP_COST = 1
};

struct sim;
typedef void sim_pattern(struct sim *s, uint32_t thread, struct access *a);

struct sim_thread {
	struct sim *sim;
	struct comm_thread comm;
	struct watch_range reg[COMM_REGISTERS_MAX];
	int regs;          /* armed */
	uint64_t left;     /* own accesses to the next sample */
	uint64_t left_low; /* the same of the low rate's clock */
	uint64_t armed;    /* own accesses since it armed */
	uint64_t samples;  /* taken */
	uint32_t rate;     /* how often it is chosen to run, relative */
	int64_t skew;      /* ticks its clock is ahead */
};

/* The samples and their threads, by the ip of the access. */
struct sim_log {
	uint64_t addr;
	uint32_t len, flags, thread;
};

/* One detection, to look for repeated ones. */
struct sim_pair {
	uint64_t publication;
	uint32_t detector;
};

struct sim {
	struct comm comm;
	sim_pattern *pattern;
	struct rng rng;
	uint64_t now;    /* steps, the tick of every clock */
	uint64_t period; /* a thread's own accesses */
	uint32_t threads;
	uint32_t run;    /* steps a thread runs at a stretch, mean */
	bool inexact;    /* the trapping access is not told */
	int arm_limit;   /* registers that can be armed, or -errno */
	uint32_t shared; /* the pattern's: percent of accesses not private */
	uint32_t common; /* the pattern's: percent of these to one word */
	void *mem;
	struct sim_log *log;
	struct sim_pair *pair;
	uint64_t ips, pairs, arms, disarms;
	uint32_t slow;      /* weight of samples at the low rate; 0: none is */
	uint64_t full;      /* samples at the full rate after a detection */
	uint64_t full_left; /* that are still to come */
	bool low;           /* the rate of all threads is low */
	double squares[SHARING_KINDS]; /* of the detections' weights */
	/* Detections [publisher][detector][sharing][by]. */
	uint32_t cell[SIM_THREADS][SIM_THREADS][SHARING_KINDS]
		     [DETECTED_BY_KINDS];
	uint64_t lost[LOSS_COUNT];
	struct sim_thread thread[SIM_THREADS];
};

enum {
	SIM_LOG_MAX = 1 << 21,
	SIM_PAIRS_MAX = 1 << 20
};

static inline bool sim_touches(const struct sim_log *l, uint64_t byte)
{
	return l->addr <= byte && byte < l->addr + l->len;
}

static inline int sim_arm(void *ctx, const struct watch_range *ranges, int n)
{
	struct sim_thread *t = ctx;

	ck_assert_int_ge(n, 1);
	ck_assert_int_le(n, COMM_REGISTERS_MAX);
	t->regs = 0;
	if (t->sim->arm_limit < 0)
		return t->sim->arm_limit;
	t->regs = n < t->sim->arm_limit ? n : t->sim->arm_limit;
	memcpy(t->reg, ranges, t->regs * sizeof(ranges[0]));
	t->sim->arms++;
	t->armed = 0;
	return t->regs;
}

static inline void sim_disarm(void *ctx)
{
	struct sim_thread *t = ctx;

	t->regs = 0;
	t->sim->disarms++;
}

/* Check a detection, byte by byte. */
static inline void sim_detected(void *ctx, const struct detection *d)
{
	struct sim_thread *t = ctx;
	struct sim *s = t->sim;
	const struct sim_log *store = &s->log[d->publisher.ip];
	struct sim_log touch = { d->detector.addr, d->detector.len, 0, 0 };
	bool common = false, store_there = false, touch_there = false;

	ck_assert_uint_eq(d->detector_thread, t->comm.id);
	ck_assert_uint_ne(d->publisher_thread, d->detector_thread);

	ck_assert_uint_eq(store->thread, d->publisher_thread);
	ck_assert_uint_eq(store->addr, d->publisher.addr);
	ck_assert_uint_eq(store->len, d->publisher.len);
	ck_assert(store->flags & (ACCESS_STORE | ACCESS_LOCKED));

	ck_assert_uint_eq(d->line % SIM_LINE, 0);
	for (uint64_t byte = d->line; byte < d->line + SIM_LINE; byte++) {
		store_there |= sim_touches(store, byte);
		touch_there |= sim_touches(&touch, byte);
		common |= sim_touches(store, byte) && sim_touches(&touch, byte);
	}
	ck_assert(store_there && touch_there);
	ck_assert_int_eq(d->sharing, common ? SHARING_TRUE : SHARING_FALSE);
	if (d->by == DETECTED_BY_BOARD)
		ck_assert_uint_eq(d->periods_q8, 256);

	ck_assert_uint_lt(s->pairs, SIM_PAIRS_MAX);
	s->pair[s->pairs++] =
		(struct sim_pair){ d->publisher.ip, d->detector_thread };
	s->cell[d->publisher_thread][d->detector_thread][d->sharing][d->by] +=
		d->weight;
	s->squares[d->sharing] += (double)d->weight * d->weight;
	s->full_left = s->full;
}

static inline void sim_lost(void *ctx, enum loss_cause cause)
{
	((struct sim_thread *)ctx)->sim->lost[cause]++;
}

static const struct comm_watch sim_watch = { sim_arm, sim_disarm };
static const struct comm_sink sim_sink = { sim_detected, sim_lost };

/*
 * A machine of @threads threads that each sample every @period accesses.
 * Entries are recent for two periods of all threads together. Each @seed gives
 * another interleaving. The test may change fields before sim_run.
 */
static inline struct sim *sim_new(sim_pattern *pattern, uint32_t threads,
				  uint64_t period, uint64_t seed)
{
	struct sim *s = calloc(1, sizeof(*s));

	ck_assert_ptr_nonnull(s);
	s->mem = aligned_alloc(64, board_size(BOARD_SLOTS_DEFAULT));
	s->log = calloc(SIM_LOG_MAX, sizeof(*s->log));
	s->pair = calloc(SIM_PAIRS_MAX, sizeof(*s->pair));
	ck_assert(s->mem && s->log && s->pair);
	s->comm = (struct comm){
		.board = board_init(s->mem, BOARD_SLOTS_DEFAULT, SIM_LINE),
		.watch = &sim_watch,
		.sink = &sim_sink,
		.expiry = 2 * period * threads,
		.watch_expiry = 2 * period * threads,
		.line_bytes = SIM_LINE,
		.chunk_bytes = 8,
		.registers = 4,
		.arm_one_in = 1,
	};
	s->pattern = pattern;
	s->threads = threads;
	s->period = period;
	s->run = 1;
	s->arm_limit = COMM_REGISTERS_MAX;
	s->now = 1000000;
	rng_seed(&s->rng, seed, 0);
	for (uint32_t i = 0; i < threads; i++) {
		struct sim_thread *t = &s->thread[i];

		t->sim = s;
		t->rate = 1;
		t->left = 1 + rng_below(&s->rng, period);
		t->left_low = t->left; /* a test that sets slow draws it */
		comm_thread_init(&t->comm, i, t, seed);
	}
	return s;
}

static inline void sim_free(struct sim *s)
{
	free(s->mem);
	free(s->log);
	free(s->pair);
	free(s);
}

static inline uint32_t sim_core(uint32_t thread)
{
	return thread % 8;
}

/* Change the rate of all threads, as preload/sources/clock/rate.h does. */
static inline void sim_set_rate(struct sim *s)
{
	if (!s->slow || s->low == !s->full_left)
		return;
	s->low = !s->full_left;
	comm_set_rate(&s->comm, s->low ? s->slow : 1, s->now);
}

/* Each rate has a clock of its own, which stands while the other one runs. */
static inline bool sim_is_sampled(struct sim *s, struct sim_thread *t)
{
	uint64_t *left = s->low ? &t->left_low : &t->left;
	uint64_t jitter = s->period / 10;

	if (--*left)
		return false;
	*left = s->period - jitter + rng_below(&s->rng, 2 * jitter + 1);
	t->comm.weight = s->low ? s->slow : 1;
	*left *= t->comm.weight;
	s->full_left -= !s->low && s->full_left;
	return true;
}

static inline void sim_trap(struct sim *s, struct sim_thread *t, int reg,
			    const struct access *a, uint64_t now, uint32_t core)
{
	if (t->comm.armed_weight > 1 && t->armed > s->period) {
		comm_trap_late(&s->comm, &t->comm);
		s->full_left = s->full;
	} else {
		comm_trap(&s->comm, &t->comm, reg, a, now, core);
	}
}

/* One access of thread @i: trap, count down, perhaps sample. */
static inline void sim_access(struct sim *s, uint32_t i, struct access *a)
{
	struct sim_thread *t = &s->thread[i];
	uint64_t now = s->now + t->skew;

	if (sim_is_sampled(s, t)) {
		a->ip = ++s->ips;
		ck_assert_uint_lt(a->ip, SIM_LOG_MAX);
		s->log[a->ip] =
			(struct sim_log){ a->addr, a->len, a->flags, i };
		t->samples++;
		comm_sample(&s->comm, &t->comm, a, now, sim_core(i));
	}
	t->armed++;
	for (int reg = 0; reg < t->regs; reg++) {
		struct watch_range *w = &t->reg[reg];

		if (a->addr < w->addr + w->len && w->addr < a->addr + a->len)
			sim_trap(s, t, reg, s->inexact ? NULL : a, now,
				 sim_core(i));
	}
	sim_set_rate(s);
}

static inline uint32_t sim_next_thread(struct sim *s)
{
	uint64_t rates = 0, pick;
	uint32_t i;

	for (i = 0; i < s->threads; i++)
		rates += s->thread[i].rate;
	pick = rng_below(&s->rng, rates);
	for (i = 0; pick >= s->thread[i].rate; i++)
		pick -= s->thread[i].rate;
	return i;
}

static inline int sim_compare(const void *x, const void *y)
{
	const struct sim_pair *a = x, *b = y;

	if (a->publication != b->publication)
		return a->publication < b->publication ? -1 : 1;
	return (a->detector > b->detector) - (a->detector < b->detector);
}

static inline void sim_run(struct sim *s, uint64_t steps)
{
	uint32_t thread = 0;

	for (uint64_t i = 0; i < steps; i++, s->now++) {
		struct access a = { .len = 8 };

		if (i == 0 || rng_below(&s->rng, s->run) == 0)
			thread = sim_next_thread(s);
		s->pattern(s, thread, &a);
		sim_access(s, thread, &a);
	}
	/* No thread detects the same publication twice. */
	qsort(s->pair, s->pairs, sizeof(*s->pair), sim_compare);
	for (uint64_t i = 1; i < s->pairs; i++)
		ck_assert(sim_compare(&s->pair[i - 1], &s->pair[i]) != 0);
}

/* Detections of cell {@a, @b} in both directions and of both means. */
static inline uint64_t sim_cell(const struct sim *s, uint32_t a, uint32_t b,
				enum sharing kind)
{
	uint64_t n = 0;

	for (int by = 0; by < DETECTED_BY_KINDS; by++)
		n += s->cell[a][b][kind][by] + s->cell[b][a][kind][by];
	return n;
}

static inline uint64_t sim_both(const struct sim *s, uint32_t a, uint32_t b)
{
	return sim_cell(s, a, b, SHARING_TRUE) +
	       sim_cell(s, a, b, SHARING_FALSE);
}

static inline uint64_t sim_by(const struct sim *s, enum sharing kind,
			      enum detected_by by)
{
	uint64_t n = 0;

	for (uint32_t a = 0; a < s->threads; a++)
		for (uint32_t b = 0; b < s->threads; b++)
			n += s->cell[a][b][kind][by];
	return n;
}

static inline uint64_t sim_kind(const struct sim *s, enum sharing kind)
{
	return sim_by(s, kind, DETECTED_BY_BOARD) +
	       sim_by(s, kind, DETECTED_BY_TRAP);
}

static inline uint64_t sim_samples(const struct sim *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->threads; i++)
		n += s->thread[i].samples;
	return n;
}

/* A private line of @thread, one of 1000. */
static inline void sim_private(struct sim *s, uint32_t thread, struct access *a)
{
	a->addr = 0x10000000 + thread * 0x100000ull +
		  rng_below(&s->rng, 1000) * SIM_LINE;
	a->flags = rng_below(&s->rng, 3) ? ACCESS_LOAD : ACCESS_STORE;
}

#endif
