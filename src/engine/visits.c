/* SPDX-License-Identifier: MIT */
/*
 * visits - would padding have avoided what a detection found?
 */
#include "visits.h"
#include "src/base/signal_safe.h"

#define MANY UINT32_MAX

uint64_t visit_bytes(uint64_t line, const struct access *a)
{
	uint64_t first = a->addr > line ? a->addr : line;
	uint64_t last = access_last(a), end = line + VISIT_LINE_BYTES - 1;

	last = last < end ? last : end;
	if (!a->len || first > last)
		return 0;
	return UINT64_MAX >> (VISIT_LINE_BYTES - 1 - (last - first))
				     << (first - line);
}

void visit_add(struct visit *v, const struct access *a)
{
	uint64_t bytes = visit_bytes(v->line, a);

	v->touched |= bytes;
	if (access_stores(a))
		v->stored |= bytes;
}

static uint32_t slot_of(uint64_t line)
{
	return (line / VISIT_LINE_BYTES * 0x9E3779B97F4A7C15ull >> 40) %
	       VISIT_LINES;
}

static void remember(_Atomic uint32_t *by, uint64_t bytes, uint32_t thread)
{
	for (; bytes; bytes &= bytes - 1) {
		_Atomic uint32_t *byte = &by[__builtin_ctzll(bytes)];
		uint32_t had = atomic_load_explicit(byte, memory_order_relaxed);

		if (had != thread + 1)
			atomic_store_explicit(byte, had ? MANY : thread + 1,
					      memory_order_relaxed);
	}
}

void visit_sampled(struct visit_table *t, uint32_t thread,
		   const struct access *a)
{
	uint64_t line = a->addr & -(uint64_t)VISIT_LINE_BYTES;
	uint32_t i = slot_of(line);

	if (access_stores(a) &&
	    atomic_load_explicit(&t->slot[i].line, memory_order_relaxed) ==
		    line)
		remember(t->slot[i].by, visit_bytes(line, a), thread);
}

enum padding visit_judge(struct visit_table *t, const struct visit *v,
			 uint32_t thread, const struct access *published,
			 uint32_t publisher)
{
	uint32_t i = slot_of(v->line);
	_Atomic uint32_t *by = t->slot[i].by;

	if (!v->touched)
		return PADDING_UNKNOWN;
	if (atomic_load_explicit(&t->slot[i].line, memory_order_relaxed) !=
	    v->line) {
		for (int b = 0; b < VISIT_LINE_BYTES; b++)
			atomic_store_explicit(&by[b], 0, memory_order_relaxed);
		atomic_store_explicit(&t->slot[i].line, v->line,
				      memory_order_relaxed);
	}
	remember(by, visit_bytes(v->line, published), publisher);
	remember(by, v->stored, thread);
	for (uint64_t bytes = v->touched; bytes; bytes &= bytes - 1) {
		uint32_t who = atomic_load_explicit(&by[__builtin_ctzll(bytes)],
						    memory_order_relaxed);

		if (who && who != thread + 1)
			return PADDING_KEEPS;
	}
	return PADDING_AVOIDS;
}
