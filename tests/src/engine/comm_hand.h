/* SPDX-License-Identifier: MIT */
/*
 * comm_hand - threads whose samples and traps a test makes by hand
 *
 * Four threads, no interleaving. Ticks are small numbers. Entries and
 * watchpoints expire after EXPIRY ticks.
 */
#ifndef COMDET_TESTS_SRC_ENGINE_COMM_HAND_H
#define COMDET_TESTS_SRC_ENGINE_COMM_HAND_H

#include <check.h>
#include <math.h>
#include <string.h>

#include "src/engine/comm.h"

enum {
	LINE = 64,
	EXPIRY = 100,
	THREADS = 4,
	SLOTS = 127
};

static const uint64_t here = 0x10000;  /* a line */
static const uint64_t there = 0x20000; /* another, in another slot */

struct hand {
	struct comm_thread comm;
	struct watch_range armed[COMM_REGISTERS_MAX];
	int arms, disarms, n; /* n: armed now */
};

/* The state of a test; each test runs in a process of its own. */
static struct {
	struct comm comm;
	struct hand hand[THREADS];
	struct detection last;
	uint32_t detections, lost[LOSS_COUNT];
	int arm_limit;
} w;

static inline int hand_arm(void *ctx, const struct watch_range *ranges, int n)
{
	struct hand *h = ctx;

	h->n = 0;
	if (w.arm_limit < 0)
		return w.arm_limit;
	h->n = n < w.arm_limit ? n : w.arm_limit;
	memcpy(h->armed, ranges, h->n * sizeof(ranges[0]));
	h->arms++;
	return h->n;
}

static inline void hand_disarm(void *ctx)
{
	struct hand *h = ctx;

	h->n = 0;
	h->disarms++;
}

static inline void on_detected(void *ctx, const struct detection *d)
{
	w.last = *d;
	w.detections++;
}

static inline void on_lost(void *ctx, enum loss_cause cause)
{
	w.lost[cause]++;
}

static const struct comm_watch watch = { hand_arm, hand_disarm };
static const struct comm_sink sink = { on_detected, on_lost };

static inline void set_up(void)
{
	static char mem[64 * (BOARD_SLOTS_MAX + 1)]
		__attribute__((aligned(64)));

	memset(&w, 0, sizeof(w));
	w.arm_limit = COMM_REGISTERS_MAX;
	w.comm = (struct comm){
		.board = board_init(mem, SLOTS, LINE),
		.watch = &watch,
		.sink = &sink,
		.expiry = EXPIRY,
		.watch_expiry = EXPIRY,
		.line_bytes = LINE,
		.chunk_bytes = 8,
		.registers = 4,
		.arm_one_in = 1,
	};
	for (uint32_t i = 0; i < THREADS; i++)
		comm_thread_init(&w.hand[i].comm, i, &w.hand[i], 1);
	ck_assert_uint_ne(board_slot(w.comm.board, here),
			  board_slot(w.comm.board, there));
}

/* Make a sample on core 10 x thread. Returns the number of new detections. */
static inline uint32_t sample(uint32_t thread, uint32_t flags, uint64_t addr,
			      uint32_t len, uint64_t now)
{
	struct access a = { addr, 0x400000 + addr, len, flags };
	uint32_t before = w.detections;

	comm_sample(&w.comm, &w.hand[thread].comm, &a, now, thread * 10);
	return w.detections - before;
}

static inline uint32_t store(uint32_t thread, uint64_t addr, uint64_t now)
{
	return sample(thread, ACCESS_STORE, addr, 8, now);
}

static inline uint32_t load(uint32_t thread, uint64_t addr, uint64_t now)
{
	return sample(thread, ACCESS_LOAD, addr, 8, now);
}

static inline uint32_t trap(uint32_t thread, int reg, const struct access *a,
			    uint64_t now)
{
	uint32_t before = w.detections;

	comm_trap(&w.comm, &w.hand[thread].comm, reg, a, now, thread * 10);
	return w.detections - before;
}

/* 0.9999 quantile of chi-square (Wilson and Hilferty). */
static inline double chi_square_limit(double freedom)
{
	double t = 1 - 2 / (9 * freedom) + 3.72 * sqrt(2 / (9 * freedom));

	return freedom * t * t * t;
}

static inline double chi_square(const uint32_t *count, int n, double mean)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += (count[i] - mean) * (count[i] - mean) / mean;
	return sum;
}

#endif
