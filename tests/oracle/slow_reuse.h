/* SPDX-License-Identifier: MIT */
/*
 * slow_reuse - how far back lines were used, written to be obvious
 *
 * All uses of all threads are kept in their order, and searched backwards.
 */
#ifndef COMDET_SLOW_REUSE_H
#define COMDET_SLOW_REUSE_H

#include <check.h>

#include "analysis/predict/workload.h"

enum {
	SLOW_USES = 1 << 12
};

/* Everything that was used, in the order of the collector. */
struct slow_use {
	int thread;
	uint64_t line;
	bool code, store;
};
static struct slow_use slow_used[SLOW_USES];
static int slow_uses;

/* The uses since the latest of the same line, of all threads or of one. */
static inline uint16_t slow_reuse(int now, bool global)
{
	const struct slow_use *u = &slow_used[now];
	uint64_t time = 1;

	for (int i = now - 1; i >= 0; i--) {
		if (!global && (slow_used[i].thread != u->thread ||
				slow_used[i].code != u->code))
			continue;
		if (slow_used[i].line == u->line)
			return (uint16_t)reuse_bin_of(time);
		time++;
	}
	return WORKLOAD_COLD;
}

/* True if another thread stored to the line since its thread used it. */
static inline bool slow_invalid(int now)
{
	bool stored = false;

	for (int i = now - 1; i >= 0; i--) {
		if (slow_used[i].line != slow_used[now].line)
			continue;
		if (slow_used[i].thread == slow_used[now].thread &&
		    slow_used[i].code == slow_used[now].code)
			return stored;
		stored |= slow_used[i].store &&
			  slow_used[i].thread != slow_used[now].thread;
	}
	return false;
}

static inline uint8_t slow_depth(int now, uint64_t sets, bool shared)
{
	const struct slow_use *u = &slow_used[now];
	uint64_t seen[DEPTH_WAYS];
	int n = 0;

	for (int i = now - 1; i >= 0; i--) {
		bool known = false;

		if (slow_used[i].line % sets != u->line % sets)
			continue;
		if (!shared && (slow_used[i].thread != u->thread ||
				slow_used[i].code != u->code))
			continue;
		if (slow_used[i].line == u->line)
			return (uint8_t)n;
		for (int k = 0; k < n; k++)
			known |= seen[k] == slow_used[i].line;
		if (!known)
			seen[n++] = slow_used[i].line;
		if (n == DEPTH_WAYS)
			return DEPTH_WAYS;
	}
	return DEPTH_WAYS;
}

static inline void slow_check_use(int thread, uint64_t line, bool code,
				  bool store, bool shared,
				  const struct micro_access *a)
{
	int now = slow_uses++;
	bool invalid;

	slow_used[now] = (struct slow_use){ thread, line, code, store };
	invalid = slow_invalid(now);
	ck_assert_uint_eq(a->global, slow_reuse(now, true));
	ck_assert_uint_eq(a->reuse,
			  invalid ? WORKLOAD_INVALID : slow_reuse(now, false));
	for (int i = 0; i < DEPTH_SIZES; i++)
		ck_assert_uint_eq(
			a->depth[i],
			invalid ? DEPTH_WAYS
				: slow_depth(now, (uint64_t)16 << i, false));
	for (int i = 0; i < SHARED_SIZES && shared; i++)
		ck_assert_uint_eq(a->shared[i],
				  slow_depth(now, (uint64_t)1024 << i, true));
}

#endif
