/* SPDX-License-Identifier: MIT */
/*
 * tally - samples of a process summed by instruction and cache line
 */
#include <stdlib.h>
#include <string.h>

#include "tally.h"
#include "index.h"
#include "analysis/base/util.h"

enum {
	FIRST_SLOTS = 256,
};

static uint32_t access_of(const struct import_sample *s)
{
	return s->access & (ACCESS_LOAD | ACCESS_STORE);
}

/* The slot to look at first, which the content of a file cannot choose. */
static size_t first_slot(const struct import_tally *t, uint64_t address,
			 uint32_t access, uint32_t source)
{
	uint64_t h = address * import_secret();

	h = (h ^ h >> 32 ^ (uint64_t)access << 8 ^ source) * import_secret();
	return h >> (64 - __builtin_ctzll(t->slots));
}

static bool is_of(const struct cdp_memory *m, uint64_t address, uint32_t access,
		  uint32_t source)
{
	return m->tally.address == address && m->access == access &&
	       m->tally.source == source;
}

static void rehash(struct import_tally *t)
{
	free(t->slot);
	t->slots = t->slots ? 2 * t->slots : FIRST_SLOTS;
	t->slot = xcalloc(t->slots, sizeof(*t->slot));
	for (size_t i = 0; i < t->entries; i++) {
		const struct cdp_memory *m = &t->entry[i].record;
		size_t at = first_slot(t, m->tally.address, m->access,
				       m->tally.source);

		while (t->slot[at & (t->slots - 1)])
			at++;
		t->slot[at & (t->slots - 1)] = (uint32_t)i + 1;
	}
}

/*
 * Find or add the entry with this key; a new one is all zero but for the key.
 */
static struct cdp_memory *entry_of(struct import_tally *t,
				   enum cdp_memory_kind kind, uint64_t address,
				   uint32_t access, uint32_t source)
{
	struct cdp_memory *m;
	size_t at;

	if (2 * (t->entries + 1) > t->slots)
		rehash(t);
	at = first_slot(t, address, access, source);
	for (;; at++) {
		uint32_t n = t->slot[at & (t->slots - 1)];

		if (!n)
			break;
		if (is_of(&t->entry[n - 1].record, address, access, source))
			return &t->entry[n - 1].record;
	}
	t->entry =
		grow(t->entry, t->entries, &t->entries_room, sizeof(*t->entry));
	m = &t->entry[t->entries++].record;
	t->slot[at & (t->slots - 1)] = (uint32_t)t->entries;
	memset(m, 0, sizeof(*m));
	m->kind = kind;
	m->access = access;
	m->tally.address = address;
	m->tally.source = source;
	return m;
}

void import_tally_add(struct import_tally *t, enum cdp_memory_kind kind,
		      uint64_t address, const struct import_sample *s)
{
	struct cdp_memory_tally *to =
		&entry_of(t, kind, address, access_of(s), s->source)->tally;

	if (!to->samples++) {
		to->map_generation = s->generation;
		to->example = s->addr;
	}
	to->periods = sat_add(to->periods, s->period);
	to->periods_squared += (double)s->period * (double)s->period;
	to->hitm += !!(s->flags & MEMORY_HITM);
	to->locked += !!(s->flags & MEMORY_LOCKED);
	to->tlb_miss += !!(s->flags & MEMORY_TLB_MISS);
	if (!s->latency)
		return;
	to->latencies++;
	to->latency_sum += s->latency;
	if (s->latency > to->latency_max)
		to->latency_max = s->latency;
}

static int by_address(const void *a, const void *b)
{
	const struct cdp_memory *x = a, *y = b;

	if (x->tally.address != y->tally.address)
		return x->tally.address < y->tally.address ? -1 : 1;
	if (x->access != y->access)
		return x->access < y->access ? -1 : 1;
	return (x->tally.source > y->tally.source) -
	       (x->tally.source < y->tally.source);
}

/* Entries [from, from + n) have the same address. */
struct group {
	size_t from, n;
	uint64_t samples;
};

static int by_samples(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

static struct group *group_entries(const struct import_tally *t, size_t *groups)
{
	struct group *g = xcalloc(t->entries, sizeof(*g));
	size_t n = 0;

	for (size_t i = 0; i < t->entries; i++) {
		const struct cdp_memory_tally *x = &t->entry[i].record.tally;

		if (!n ||
		    t->entry[g[n - 1].from].record.tally.address != x->address)
			g[n++].from = i;
		g[n - 1].n++;
		g[n - 1].samples += x->samples;
	}
	qsort(g, n, sizeof(*g), by_samples);
	*groups = n;
	return g;
}

static void add_up(struct cdp_memory_tally *to,
		   const struct cdp_memory_tally *from)
{
	to->samples += from->samples;
	to->periods = sat_add(to->periods, from->periods);
	to->periods_squared += from->periods_squared;
	to->hitm += from->hitm;
	to->locked += from->locked;
	to->tlb_miss += from->tlb_miss;
	to->latencies += from->latencies;
	to->latency_sum += from->latency_sum;
	if (from->latency_max > to->latency_max)
		to->latency_max = from->latency_max;
}

void import_tally_finish(struct import_tally *t, size_t max)
{
	struct import_tally kept = { 0 };
	struct group *g;
	size_t groups;

	if (!t->entries)
		return;
	qsort(t->entry, t->entries, sizeof(*t->entry), by_address);
	g = group_entries(t, &groups);
	for (size_t i = 0; i < groups; i++) {
		bool own = kept.entries + g[i].n <= max;

		for (size_t k = 0; k < g[i].n; k++) {
			const struct cdp_memory *m =
				&t->entry[g[i].from + k].record;
			struct cdp_memory *to = entry_of(
				&kept, m->kind, own ? m->tally.address : 0,
				m->access, m->tally.source);

			if (own)
				*to = *m;
			else
				add_up(&to->tally, &m->tally);
		}
	}
	free(g);
	import_tally_release(t);
	*t = kept;
}

void import_tally_release(struct import_tally *t)
{
	free(t->entry);
	free(t->slot);
	memset(t, 0, sizeof(*t));
}
