/* SPDX-License-Identifier: MIT */
/*
 * directory_lines - read the counts of the exact directory
 *
 * May run beside exact_access. A thread that loses a line moves its stores from
 * the state to the record. The record is read first, so such a store may be
 * missed but is never counted twice:
 *
 *   settle				region_lines
 *     state to LOCKED, acquire
 *     stores, release	(C)		  stores, acquire	(D)
 *					  state, relaxed
 *
 * (C) pairs with (D).
 */
#include <stdbool.h>

#include "directory_internal.h"
#include "src/base/signal_safe.h"

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

struct exact_cell exact_cell(const struct exact *x, uint32_t from, uint32_t to)
{
	struct exact_cell c = { 0, 0, 0 };

	if (from < x->threads && to < x->threads) {
		const struct exact_tally *cell =
			&x->cell[(size_t)to * x->threads + from];

		c.transfers = get(&cell->transfers);
		c.false_sharing = get(&cell->false_sharing);
		c.useless = get(&cell->useless);
	}
	return c;
}

struct exact_cell exact_total(const struct exact *x)
{
	struct exact_cell total = { 0, 0, 0 };

	for (uint32_t to = 0; to < x->threads; to++) {
		for (uint32_t from = 0; from < x->threads; from++) {
			struct exact_cell c = exact_cell(x, from, to);

			total.transfers += c.transfers;
			total.false_sharing += c.false_sharing;
			total.useless += c.useless;
		}
	}
	return total;
}

static int region_lines(const struct exact *x, uint32_t i, uint64_t region,
			int (*fn)(void *ctx, const struct exact_line *line),
			void *ctx)
{
	const _Atomic uint64_t *at = x->state + (size_t)i * EXACT_REGION_LINES;

	for (uint32_t n = 0; n < EXACT_REGION_LINES; n++, at++) {
		struct exact_record *r = exact_record(x, at);
		struct exact_line line = {
			.line = (region << x->region_shift) +
				(uint64_t)n * x->line_bytes,
		};
		uint32_t log;
		int ret;

		if (get(at) == EXACT_UNTOUCHED)
			continue;
		line.transfers = get(&r->transfers);
		line.false_sharing = get(&r->false_sharing);
		line.ownership = get(&r->ownership);
		line.bytes = get(&r->bytes);
		line.useless = get(&r->useless);
		line.contended = r->contended.bytes;
		log = atomic_load_explicit(&r->log, memory_order_relaxed);
		line.log = log ? &x->log[log - 1] : NULL;
		/* (D) */
		line.stores =
			atomic_load_explicit(&r->stores, memory_order_acquire);
		line.stores += exact_stores_of(get(at));
		ret = fn(ctx, &line);
		if (ret)
			return ret;
	}
	return 0;
}

int exact_lines(const struct exact *x,
		int (*fn)(void *ctx, const struct exact_line *line), void *ctx)
{
	for (uint32_t i = 0; i < x->table.regions; i++) {
		uint64_t key = get(&x->table.key[i]);
		int ret;

		if (!key)
			continue;
		ret = region_lines(x, i, key - 1, fn, ctx);
		if (ret)
			return ret;
	}
	return 0;
}
