/* SPDX-License-Identifier: MIT */
/*
 * pair_table - detections of one thread, counted in the file
 *
 * A new record is filled in with its first detection and then committed, so
 * after SIGKILL it is complete or absent. Each later detection stores some of
 * its words. A reader, or SIGKILL, between these stores finds count one ahead
 * of periods_q8 and last_mono, but never a torn value.
 */
#include <errno.h>
#include <stddef.h>

#include "pair_table.h"
#include "src/base/signal_safe.h"

/* The record begins with the fields in which its detections agree. */
enum {
	PAIR_KEY_WORDS = offsetof(struct cdp_pair, count) / sizeof(uint64_t),
};
_Static_assert(offsetof(struct cdp_pair, count) ==
		       2 * sizeof(uint32_t) + 4 * sizeof(uint64_t) +
			       2 * sizeof(uint32_t) + 4 * sizeof(uint16_t) +
			       sizeof(uint64_t),
	       "the key has no padding");

/* The record that detection @d opens as a rest. */
static struct cdp_pair rest_of(const struct detection *d, uint64_t now,
			       uint64_t map_generation)
{
	uint64_t weight = d->weight ? d->weight : 1;

	return (struct cdp_pair){
		.publisher_thread = d->publisher_thread,
		.detector_thread = d->detector_thread,
		.sharing = d->sharing,
		.by = d->by,
		.count = weight,
		.periods_q8 = weight * d->periods_q8,
		.first_mono = now,
		.last_mono = now,
		.map_generation = map_generation,
		.avoidable = d->padding == PADDING_AVOIDS ? weight : 0,
		.unavoidable = d->padding == PADDING_KEEPS ? weight : 0,
		.publisher_process = d->publisher_process,
	};
}

/* The record that detection @d opens for itself. */
static struct cdp_pair pair_of(const struct detection *d, uint64_t now,
			       uint64_t map_generation)
{
	struct cdp_pair p = rest_of(d, now, map_generation);

	p.publisher_addr = d->publisher.addr;
	p.detector_addr = d->detector.addr;
	p.publisher_ip = d->publisher.ip;
	p.detector_ip = d->detector.ip;
	p.publisher_len = d->publisher.len;
	p.detector_len = d->detector.len;
	p.publisher_flags = d->publisher.flags;
	p.detector_flags = d->detector.flags;
	p.line = d->line;
	return p;
}

/* An index that cannot grow keeps its last quarter for rests. */
static bool room_for(struct pair_table *t, bool rest)
{
	if (rest)
		return t->rests < PAIR_TABLE_RESTS_MAX &&
		       store_index_room(&t->index);
	return t->index.used - t->rests < PAIR_TABLE_MAX &&
	       store_index_room(&t->index) &&
	       t->index.used < t->index.slots / 4 * 3;
}

static void merge(struct cdp_pair *to, const struct cdp_pair *p)
{
	store_add(&to->count, p->count);
	store_add(&to->periods_q8, p->periods_q8);
	store_set(&to->last_mono, p->last_mono);
	store_add(&to->avoidable, p->avoidable);
	store_add(&to->unavoidable, p->unavoidable);
}

/* Count @p in the record that agrees with it, or in a new one. */
static int count(struct store *s, struct pair_table *t,
		 const struct cdp_pair *p, bool rest)
{
	bool by_look = p->by == DETECTED_BY_LOOK;
	struct cdp_pair *pair;
	uint32_t hash;

	pair = store_index_find(s, &t->index, p, PAIR_KEY_WORDS, &hash);
	if (pair) {
		merge(pair, p);
		return 0;
	}
	if (!room_for(t, rest) ||
	    (by_look && t->looks == PAIR_TABLE_LOOKS_MAX) ||
	    store_index_add(s, &t->index, &t->writer, p, hash))
		return -ENOSPC;
	t->rests += rest;
	t->looks += by_look;
	return 0;
}

int pair_table_add(struct store *s, struct pair_table *t,
		   const struct detection *d, uint64_t now,
		   uint64_t map_generation)
{
	struct cdp_pair p = pair_of(d, now, map_generation);

	store_touch(s, now);
	if (!count(s, t, &p, false))
		return 0;
	if (d->by == DETECTED_BY_LOOK)
		return -ENOSPC;
	p = rest_of(d, now, map_generation);
	return count(s, t, &p, true);
}

void pair_table_release(struct pair_table *t)
{
	store_index_release(&t->index);
	t->rests = t->looks = 0;
}
