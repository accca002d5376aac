/* SPDX-License-Identifier: MIT */
/*
 * directory_mesi - MESI events of the exact directory
 */
#include "directory_internal.h"
#include "src/base/bits.h"
#include "src/base/signal_safe.h"

static uint32_t distance(const struct exact *x, uint32_t a, uint32_t b)
{
	uint32_t core_a = x->core_of[a], core_b = x->core_of[b], level;

	for (level = 0; level < x->levels; level++)
		if (x->domain[level][core_a] == x->domain[level][core_b])
			break;
	return level;
}

struct others {
	uint32_t n, nearest, farthest;
};

/* The caches other than @cache that have the line. */
static struct others find_others(const struct exact *x, struct exact_record *r,
				 uint32_t cache)
{
	struct others o = { 0, TOPOLOGY_LEVELS_MAX, 0 };

	for (uint32_t w = 0; w < x->cache_words; w++) {
		uint64_t word = exact_holders(x, r)[w];

		for (; word; word &= word - 1) {
			uint32_t other = w * 64 + __builtin_ctzll(word), d;

			if (other == cache)
				continue;
			d = distance(x, cache, other);
			o.n++;
			o.nearest = d < o.nearest ? d : o.nearest;
			o.farthest = d > o.farthest ? d : o.farthest;
		}
	}
	return o;
}

void exact_mesi_load(const struct exact *x, struct exact_counts *c,
		     struct exact_record *r, uint32_t cache)
{
	struct others o;

	if (set_has(exact_holders(x, r), cache))
		return;
	o = find_others(x, r, cache);
	if (!o.n)
		c->cold_loads++;
	else
		c->miss[r->modified ? EXACT_LOAD_MODIFIED : EXACT_LOAD_CLEAN]
		       [o.nearest]++;
	set_insert(exact_holders(x, r), cache);
	r->modified = 0;
}

void exact_mesi_store(const struct exact *x, struct exact_counts *c,
		      struct exact_record *r, uint32_t cache)
{
	struct others o;

	if (r->modified == cache + 1)
		return;
	o = find_others(x, r, cache);
	if (set_has(exact_holders(x, r), cache)) {
		if (o.n)
			c->miss[EXACT_UPGRADE][o.farthest]++;
	} else if (o.n) {
		c->miss[r->modified ? EXACT_OWN_MODIFIED : EXACT_OWN_CLEAN]
		       [o.nearest]++;
	} else {
		c->cold_stores++;
	}
	if (o.n) {
		c->invalidated += o.n;
		/* No other thread writes it now. */
		atomic_store_explicit(
			&r->ownership,
			atomic_load_explicit(&r->ownership,
					     memory_order_relaxed) +
				1,
			memory_order_relaxed);
	}
}
