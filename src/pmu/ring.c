/* SPDX-License-Identifier: MIT */
/*
 * ring - the buffer in which the kernel leaves the records of an event
 */
#include <errno.h>
#include <string.h>

#include "ring.h"
#include "src/base/shared_word.h"
#include "src/base/signal_safe.h"

void perf_ring_init(struct perf_ring *r, void *at, uint32_t pages)
{
	r->page = at;
	r->bytes = (uint64_t)pages * PERF_RING_PAGE;
}

static void copy_out(const struct perf_ring *r, uint64_t from, void *to,
		     size_t n)
{
	const char *data = (const char *)r->page + PERF_RING_PAGE;
	uint64_t at = from & (r->bytes - 1);
	size_t first = n < r->bytes - at ? n : r->bytes - at;

	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, n - first);
}

static void release(struct perf_ring *r, uint64_t tail)
{
	/* (C) pairs with the kernel's (D). */
	shared_store_release(&r->page->data_tail, tail);
}

int perf_ring_take(struct perf_ring *r, void *record, size_t room)
{
	struct perf_event_header h;
	uint64_t head, tail, size;

	if (!r->page)
		return 0;
	tail = r->page->data_tail;
	/* (B) pairs with the kernel's (A). */
	head = shared_load_acquire(&r->page->data_head);
	if (head == tail)
		return 0;
	if (head - tail > r->bytes || head - tail < sizeof(h)) {
		release(r, head);
		return -EPROTO;
	}
	copy_out(r, tail, &h, sizeof(h));
	memcpy(record, &h, sizeof(h));
	size = h.size;
	if (size < sizeof(h) || size % 8 || size > head - tail) {
		release(r, head);
		return -EPROTO;
	}
	if (size > room) {
		release(r, tail + size);
		return -EMSGSIZE;
	}
	copy_out(r, tail, record, size);
	release(r, tail + size);
	return 1;
}

int perf_ring_next(struct perf_ring *r, struct perf_record *record)
{
	return perf_ring_take(r, record, sizeof(*record));
}
