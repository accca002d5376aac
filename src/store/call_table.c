/* SPDX-License-Identifier: MIT */
/*
 * call_table - detections of one thread, by the calls that led to both accesses
 */
#include <errno.h>
#include <stddef.h>

#include "call_table.h"
#include "src/base/signal_safe.h"

/* A record begins with the words in which its detections agree. */
enum {
	KEY_WORDS = offsetof(struct cdp_memory, calls.count) / sizeof(uint64_t),
};

int call_table_add(struct store *s, struct call_table *t,
		   const struct detection *d)
{
	uint64_t weight = d->weight ? d->weight : 1;
	struct cdp_memory m = {
		.kind = CDP_MEMORY_CALLS,
		.calls = {
			.publisher_thread = d->publisher_thread,
			.detector_thread = d->detector_thread,
			.publisher_path = d->publisher_path,
			.detector_path = d->detector_path,
			.line = d->line,
			.sharing = d->sharing,
			.count = weight,
			.avoidable =
				d->padding == PADDING_AVOIDS ? weight : 0,
			.unavoidable =
				d->padding == PADDING_KEEPS ? weight : 0,
		},
	};
	struct cdp_memory *was;
	uint32_t hash;

	if (!d->publisher_path && !d->detector_path)
		return 0;
	t->writer.section = CDP_MEMORY;
	was = store_index_find(s, &t->index, &m, KEY_WORDS, &hash);
	if (was) {
		store_add(&was->calls.count, weight);
		store_add(&was->calls.avoidable, m.calls.avoidable);
		store_add(&was->calls.unavoidable, m.calls.unavoidable);
		return 0;
	}
	if (t->index.used >= CALL_TABLE_MAX || !store_index_room(&t->index))
		return -ENOSPC;
	return store_index_add(s, &t->index, &t->writer, &m, hash);
}

void call_table_release(struct call_table *t)
{
	store_index_release(&t->index);
}
