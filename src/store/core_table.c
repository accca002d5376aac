/* SPDX-License-Identifier: MIT */
/*
 * core_table - detections of one thread by cores, counted in the file
 */
#include <errno.h>
#include <stddef.h>

#include "core_table.h"
#include "src/base/signal_safe.h"

/* The record begins with the fields in which its detections agree. */
enum {
	KEY_WORDS = offsetof(struct cdp_core, count) / sizeof(uint64_t),
};
_Static_assert(KEY_WORDS == 1, "the key has no padding");

int core_table_add(struct store *s, struct core_table *t,
		   const struct detection *d)
{
	struct cdp_core key = {
		.publisher_core = d->publisher_core,
		.detector_core = d->detector_core,
	};
	uint64_t weight = d->weight ? d->weight : 1;
	uint64_t periods_q8 = weight * d->periods_q8;
	struct cdp_core *core;
	uint32_t hash;

	core = store_index_find(s, &t->index, &key, KEY_WORDS, &hash);
	if (core) {
		store_add(&core->count[d->sharing], weight);
		if (d->by == DETECTED_BY_TRAP)
			store_add(&core->traps, weight);
		store_add(&core->periods_q8, periods_q8);
		return 0;
	}
	if (t->index.used >= CORE_TABLE_MAX || !store_index_room(&t->index))
		return -ENOSPC;
	key.count[d->sharing] = weight;
	key.traps = d->by == DETECTED_BY_TRAP ? weight : 0;
	key.periods_q8 = periods_q8;
	return store_index_add(s, &t->index, &t->writer, &key, hash);
}

void core_table_release(struct core_table *t)
{
	store_index_release(&t->index);
}
