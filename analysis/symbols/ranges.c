/* SPDX-License-Identifier: MIT */
/*
 * ranges - which of many ranges of addresses contains an address
 *
 * ranges_flatten() walks over the addresses where ranges begin or end. A heap
 * holds the ranges that have begun, with the highest rank on top; those that
 * have ended leave it when they come to the top.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ranges.h"
#include "analysis/base/util.h"

void ranges_add(struct ranges *r, uint64_t start, uint64_t end, uint64_t rank,
		size_t value)
{
	if (start >= end)
		return;
	r->range = grow(r->range, r->n, &r->room, sizeof(*r->range));
	r->range[r->n++] = (struct range){ start, end, rank, value };
}

struct heap {
	const struct range **item;
	size_t n;
};

static bool above(const struct range *x, const struct range *y)
{
	return x->rank != y->rank ? x->rank > y->rank : x->value > y->value;
}

static void heap_swap(struct heap *h, size_t i, size_t k)
{
	const struct range *item = h->item[i];

	h->item[i] = h->item[k];
	h->item[k] = item;
}

static void heap_push(struct heap *h, const struct range *item)
{
	size_t i = h->n++;

	h->item[i] = item;
	for (; i && above(h->item[i], h->item[(i - 1) / 2]); i = (i - 1) / 2)
		heap_swap(h, i, (i - 1) / 2);
}

static void heap_pop(struct heap *h)
{
	size_t i = 0;

	h->item[0] = h->item[--h->n];
	for (;;) {
		size_t best = i;

		for (size_t k = 2 * i + 1; k <= 2 * i + 2 && k < h->n; k++)
			if (above(h->item[k], h->item[best]))
				best = k;
		if (best == i)
			return;
		heap_swap(h, i, best);
		i = best;
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return order_u64(x->start, y->start);
}

/* Add the part [@start, @end) of @of, or lengthen the last one by it. */
static void add_part(struct ranges *r, const struct range *of, uint64_t start,
		     uint64_t end)
{
	struct range *last = r->n ? &r->range[r->n - 1] : NULL;

	if (last && last->end == start && last->value == of->value &&
	    last->rank == of->rank)
		last->end = end;
	else
		ranges_add(r, start, end, of->rank, of->value);
}

void ranges_flatten(struct ranges *r)
{
	struct ranges flat = { NULL };
	struct heap h = { xcalloc(r->n + 1, sizeof(*h.item)), 0 };
	uint64_t at = 0;
	size_t next = 0;

	if (r->n)
		qsort(r->range, r->n, sizeof(*r->range), compare_starts);
	while (next < r->n || h.n) {
		uint64_t stop;

		while (h.n && h.item[0]->end <= at)
			heap_pop(&h);
		if (!h.n) {
			if (next == r->n)
				break;
			at = r->range[next].start;
		}
		while (next < r->n && r->range[next].start <= at)
			heap_push(&h, &r->range[next++]);
		stop = h.item[0]->end;
		if (next < r->n && r->range[next].start < stop)
			stop = r->range[next].start;
		if (stop > at)
			add_part(&flat, h.item[0], at, stop);
		at = stop;
	}
	free(h.item);
	free(r->range);
	*r = flat;
}

static int compare_address(const void *key, const void *element)
{
	uint64_t addr = *(const uint64_t *)key;
	const struct range *r = element;

	return addr < r->start ? -1 : addr >= r->end;
}

const struct range *ranges_find(const struct ranges *r, uint64_t addr)
{
	return r->n ? bsearch(&addr, r->range, r->n, sizeof(*r->range),
			      compare_address)
		    : NULL;
}

void ranges_release(struct ranges *r)
{
	free(r->range);
	memset(r, 0, sizeof(*r));
}
