/* SPDX-License-Identifier: MIT */
/*
 * reuse_oracle - what becomes of each use in a trace, by looking ahead
 *
 * A trace is an array of accesses with the places they were made at. For a use
 * the oracle reads on, access by access, until one decides, by tables 6.2 and
 * 6.3 of the thesis as they are printed there. Nothing is shared with src/reuse
 * but its types.
 */
#ifndef COMDET_TESTS_ORACLE_REUSE_ORACLE_H
#define COMDET_TESTS_ORACLE_REUSE_ORACLE_H

#include <stdlib.h>
#include <string.h>

#include "src/engine/reuse.h"
#include "src/base/rng.h"

enum {
	TRACE_THREADS = 64,
	TRACE_LINES = 4096, /* lines of 64 bytes from TRACE_BASE on */
};

#define TRACE_BASE 0x100000ull

struct trace_access {
	struct access a;
	struct cpu_place place;
	uint64_t own, of_domain; /* accesses made, this one included */
};

struct trace {
	uint32_t n, room;
	struct trace_access *access;
	uint64_t own[TRACE_THREADS], of_domain[TRACE_THREADS];
	/* Of each line, the accesses to it, in their order. */
	uint32_t *of_line[TRACE_LINES + 1];
	uint32_t in_line[TRACE_LINES + 1], line_room[TRACE_LINES + 1];
};

static inline struct trace *trace_new(uint32_t room)
{
	struct trace *t = calloc(1, sizeof(*t));

	if (!t)
		abort();
	t->room = room;
	t->access = calloc(room, sizeof(*t->access));
	if (!t->access)
		abort();
	return t;
}

static inline void trace_free(struct trace *t)
{
	for (int i = 0; i <= TRACE_LINES; i++)
		free(t->of_line[i]);
	free(t->access);
	free(t);
}

static inline uint32_t trace_line(uint64_t addr)
{
	return (addr - TRACE_BASE) / 64;
}

static inline void trace_note(struct trace *t, uint32_t line, uint32_t at)
{
	if (line > TRACE_LINES)
		abort();
	if (t->in_line[line] == t->line_room[line]) {
		t->line_room[line] = 2 * t->line_room[line] + 64;
		t->of_line[line] =
			realloc(t->of_line[line],
				t->line_room[line] * sizeof(uint32_t));
		if (!t->of_line[line])
			abort();
	}
	t->of_line[line][t->in_line[line]++] = at;
}

static inline void trace_add(struct trace *t, const struct cpu_place *place,
			     uint64_t addr, uint32_t len, bool store)
{
	struct trace_access *x = &t->access[t->n];
	uint32_t first = trace_line(addr), last = trace_line(addr + len - 1);

	if (t->n == t->room)
		abort();
	x->a = (struct access){
		.addr = addr,
		.ip = 0x400000 + t->n,
		.len = len,
		.flags = store ? ACCESS_STORE : ACCESS_LOAD,
	};
	x->place = *place;
	x->own = ++t->own[place->thread];
	x->of_domain = ++t->of_domain[place->domain];
	for (uint32_t line = first; line <= last; line++)
		trace_note(t, line, t->n);
	t->n++;
}

struct fate {
	enum reuse_outcome outcome;
	uint32_t end; /* the access that decided */
	uint64_t time;
	bool temporal;
};

static inline bool overlap(uint64_t a, uint32_t a_len, uint64_t b,
			   uint32_t b_len)
{
	return a < b + b_len && b < a + a_len;
}

/* The tables, cell by cell. */
static inline enum reuse_outcome table_6(enum reuse_scope scope,
					 const struct trace_access *use,
					 const struct trace_access *end)
{
	bool w = end->a.flags & ACCESS_STORE;
	bool same_thread = use->place.thread == end->place.thread;
	bool same_core = use->place.core == end->place.core;
	bool same_domain = use->place.domain == end->place.domain;

	switch (scope) {
	case REUSE_PRIVATE:
		if (same_thread)
			return REUSE_REUSED;
		return w ? REUSE_INVALIDATED : REUSE_NOTHING;
	case REUSE_SHARED:
		if (same_domain)
			return same_core ? REUSE_SAME_CORE : REUSE_REUSED;
		return w ? REUSE_INVALIDATED : REUSE_NOTHING;
	default:
		if (same_domain)
			return REUSE_REUSED;
		return w ? REUSE_INVALIDATED : REUSE_NOTHING;
	}
}

/* Accesses that @use's stream had made when access number @end came. */
static inline uint64_t trace_count(const struct trace *t,
				   const struct trace_access *use, uint32_t end,
				   enum reuse_scope scope)
{
	for (;; end--) {
		const struct trace_access *x = &t->access[end];

		if (scope == REUSE_PRIVATE &&
		    x->place.thread == use->place.thread)
			return x->own;
		if (scope != REUSE_PRIVATE &&
		    x->place.domain == use->place.domain)
			return x->of_domain;
	}
}

/*
 * What becomes of access number @at as a use of its bytes, or of the @nth line
 * that it touches.
 */
static inline struct fate trace_fate(const struct trace *t, uint32_t at,
				     enum reuse_scope scope,
				     enum reuse_granularity granularity,
				     uint32_t nth)
{
	const struct trace_access *use = &t->access[at];
	uint64_t addr = use->a.addr;
	uint32_t len = use->a.len;
	uint32_t first, last, next[2] = { 0, 0 };
	struct fate f = { REUSE_DANGLING, UINT32_MAX,
			  scope == REUSE_PRIVATE
				  ? t->own[use->place.thread] + 1 - use->own
				  : t->of_domain[use->place.domain] + 1 -
					    use->of_domain,
			  false };

	if (granularity == REUSE_LINE) {
		addr = (addr & ~63ull) + 64 * nth;
		len = 64;
	}
	first = trace_line(addr);
	last = trace_line(addr + len - 1);
	for (uint32_t line = first; line <= last; line++) {
		/* By bisection: the first access to the line after @at. */
		uint32_t low = 0, high = t->in_line[line];

		while (low < high) {
			uint32_t mid = (low + high) / 2;

			if (t->of_line[line][mid] <= at)
				low = mid + 1;
			else
				high = mid;
		}
		next[line - first] = low;
	}
	for (;;) {
		uint32_t soonest = UINT32_MAX;
		const struct trace_access *x;

		for (uint32_t line = first; line <= last; line++)
			if (next[line - first] < t->in_line[line] &&
			    t->of_line[line][next[line - first]] < soonest)
				soonest = t->of_line[line][next[line - first]];
		if (soonest == UINT32_MAX)
			return f;
		for (uint32_t line = first; line <= last; line++)
			if (next[line - first] < t->in_line[line] &&
			    t->of_line[line][next[line - first]] == soonest)
				next[line - first]++;
		x = &t->access[soonest];
		if (!overlap(addr, len, x->a.addr, x->a.len))
			continue;
		f.outcome = table_6(scope, use, x);
		if (f.outcome == REUSE_NOTHING) {
			f.outcome = REUSE_DANGLING;
			continue;
		}
		f.end = soonest;
		f.temporal =
			overlap(use->a.addr, use->a.len, x->a.addr, x->a.len);
		f.time = trace_count(t, use, soonest, scope) -
			 (scope == REUSE_PRIVATE ? use->own : use->of_domain);
		/* The store comes as if it were the stream's next access. */
		f.time += f.outcome == REUSE_INVALIDATED;
		return f;
	}
}

static inline uint32_t lines_of(const struct access *a)
{
	return (a->addr % 64 + a->len - 1) / 64 + 1;
}

#endif
