/* SPDX-License-Identifier: MIT */
/*
 * stack_oracle - traces of cache lines, and what caches do with them, exactly
 *
 * Traces are invented by patterns or filled by hand. Distances come from an
 * LRU stack kept as a list, which is its definition, and from a counting tree
 * over time, which is fast; caches of one size are simulated as what they are.
 */
#ifndef COMDET_TESTS_ORACLE_STACK_ORACLE_H
#define COMDET_TESTS_ORACLE_STACK_ORACLE_H

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "src/engine/reuse_histogram.h"
#include "src/base/rng.h"

#define NEVER UINT32_MAX /* distance of a first access */

struct trace {
	uint32_t *line;
	uint32_t accesses, lines; /* line numbers are below lines */
};

static inline void *oracle_alloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		abort();
	return p;
}

static inline void trace_init(struct trace *t, uint32_t accesses,
			      uint32_t lines)
{
	t->line = oracle_alloc(accesses, sizeof(*t->line));
	t->accesses = accesses;
	t->lines = lines;
}

static inline void trace_release(struct trace *t)
{
	free(t->line);
}

static inline double draw_unit(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) * 0x1p-53;
}

enum pattern_name {
	PATTERN_CYCLE,   /* sweeps over all lines */
	PATTERN_UNIFORM, /* a line at random */
	PATTERN_HOT,     /* half of the accesses to an eighth of the lines */
	PATTERN_SKEWED,  /* log-uniform: line k has a share near 1/k */
	PATTERN_STACK,   /* a walk up and down */
	PATTERN_MIXED,   /* two sweeps and random ones, interleaved */
	PATTERN_STREAM,  /* half at random, half to lines used once or twice */
	PATTERNS
};

static inline uint32_t pattern_line(enum pattern_name p, uint32_t lines,
				    uint32_t i, uint32_t *state, struct rng *r)
{
	switch (p) {
	case PATTERN_CYCLE:
		return i % lines;
	case PATTERN_HOT:
		if (rng_next(r) & 1)
			return (uint32_t)rng_below(r, lines / 8);
		return (uint32_t)rng_below(r, lines);
	case PATTERN_SKEWED:
		return (uint32_t)pow(lines, draw_unit(r)) - 1;
	case PATTERN_STACK:
		if (rng_next(r) & 1)
			*state += *state + 1 < lines;
		else
			*state -= *state > 0;
		return *state;
	case PATTERN_MIXED:
		switch (rng_below(r, 3)) {
		case 0:
			*state += 1;
			return *state % (lines / 16);
		case 1:
			return lines / 16 + (uint32_t)rng_below(r, lines / 16);
		default:
			return lines / 8 + i % (lines - lines / 8);
		}
	case PATTERN_STREAM:
		if (rng_next(r) & 1)
			return (uint32_t)rng_below(r, lines / 8);
		*state += (uint32_t)rng_below(r, 8) == 0;
		return lines / 8 + *state % (lines - lines / 8);
	default:
		return (uint32_t)rng_below(r, lines);
	}
}

static inline void trace_pattern(struct trace *t, enum pattern_name p,
				 uint32_t accesses, uint32_t lines,
				 uint64_t seed)
{
	uint32_t state = 0;
	struct rng r;

	trace_init(t, accesses, lines);
	rng_seed(&r, seed, p);
	for (uint32_t i = 0; i < accesses; i++)
		t->line[i] = pattern_line(p, lines, i, &state, &r);
}

/* Distinct lines since the last access, from a list with the latest first. */
static inline uint32_t *distances_by_list(const struct trace *t)
{
	uint32_t *distance = oracle_alloc(t->accesses, sizeof(*distance));
	uint32_t *stack = oracle_alloc(t->lines, sizeof(*stack)), depth = 0;

	for (uint32_t i = 0; i < t->accesses; i++) {
		uint32_t at = 0;

		while (at < depth && stack[at] != t->line[i])
			at++;
		distance[i] = at < depth ? at : NEVER;
		depth += at == depth;
		memmove(stack + 1, stack, at * sizeof(*stack));
		stack[0] = t->line[i];
	}
	free(stack);
	return distance;
}

/* Fenwick's tree: how many of the first n marks are set. */
static inline void marks_add(int32_t *tree, uint32_t n, uint32_t at, int32_t by)
{
	for (uint32_t i = at + 1; i <= n; i += i & -i)
		tree[i] += by;
}

static inline uint32_t marks_before(const int32_t *tree, uint32_t at)
{
	int32_t sum = 0;

	for (uint32_t i = at; i > 0; i -= i & -i)
		sum += tree[i];
	return (uint32_t)sum;
}

/* The same: a mark at the latest access of each line, counted from it on. */
static inline uint32_t *distances_by_tree(const struct trace *t)
{
	uint32_t *distance = oracle_alloc(t->accesses, sizeof(*distance));
	uint32_t *last = oracle_alloc(t->lines, sizeof(*last));
	int32_t *tree = oracle_alloc(t->accesses + 1, sizeof(*tree));

	for (uint32_t i = 0; i < t->accesses; i++) {
		uint32_t *l = &last[t->line[i]];

		distance[i] = NEVER;
		if (*l) {
			distance[i] =
				marks_before(tree, i) - marks_before(tree, *l);
			marks_add(tree, t->accesses, *l - 1, -1);
		}
		marks_add(tree, t->accesses, i, 1);
		*l = i + 1;
	}
	free(tree);
	free(last);
	return distance;
}

/* Share of the accesses at @distance or more, first ones included. */
static inline double share_from(const uint32_t *distance, uint32_t n,
				uint32_t lines)
{
	uint32_t miss = 0;

	for (uint32_t i = 0; i < n; i++)
		miss += distance[i] >= lines;
	return (double)miss / n;
}

/* Each access looks back. */
static inline void histogram_of(struct reuse_histogram *h,
				const struct trace *t)
{
	uint32_t *last = oracle_alloc(t->lines, sizeof(*last));

	memset(h, 0, sizeof(*h));
	for (uint32_t i = 0; i < t->accesses; i++) {
		uint32_t *l = &last[t->line[i]];

		if (*l)
			reuse_histogram_add(h, i + 1 - *l, 1);
		else
			reuse_histogram_add_never(h, i + 1, 1);
		*l = i + 1;
	}
	free(last);
}

/* One access in @period is a use, followed to its reuse or the end. */
static inline void sampled_histogram_of(struct reuse_histogram *h,
					const struct trace *t, uint64_t period,
					uint64_t seed)
{
	uint32_t *next = oracle_alloc(t->lines, sizeof(*next));
	struct rng r;

	memset(h, 0, sizeof(*h));
	rng_seed(&r, seed, 99);
	for (uint32_t i = t->accesses; i-- > 0;) {
		uint32_t *n = &next[t->line[i]];

		if (rng_below(&r, period) == 0) {
			if (*n)
				reuse_histogram_add(h, *n - 1 - i,
						    (double)period);
			else
				reuse_histogram_add_never(h, t->accesses - i,
							  (double)period);
		}
		*n = i + 1;
	}
	free(next);
}

/* Miss ratio of @sets sets of @ways lines; set = line mod sets. */
static inline double simulate(const struct trace *t, uint32_t sets,
			      uint32_t ways, bool at_random, uint64_t seed)
{
	uint32_t *cache = oracle_alloc((size_t)sets * ways, sizeof(*cache));
	uint32_t miss = 0;
	struct rng r;

	rng_seed(&r, seed, 5);
	for (uint32_t i = 0; i < t->accesses; i++) {
		uint32_t line = t->line[i] + 1, at = 0;
		uint32_t *set = &cache[(size_t)(t->line[i] % sets) * ways];

		while (at < ways && set[at] && set[at] != line)
			at++;
		if (at == ways || !set[at]) {
			miss++;
			if (at == ways)
				at = at_random ? (uint32_t)rng_below(&r, ways)
					       : ways - 1;
		}
		if (!at_random)
			memmove(set + 1, set, at * sizeof(*set));
		set[at_random ? at : 0] = line;
	}
	free(cache);
	return (double)miss / t->accesses;
}

#endif
