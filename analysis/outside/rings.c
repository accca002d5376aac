/* SPDX-License-Identifier: MIT */
/*
 * rings - the buffers of all events, read as one stream in order of time
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "rings.h"
#include "analysis/base/util.h"

enum {
	RECORD_MAX = 1 << 16, /* its size has 16 bits */
};

void rings_add(struct rings *r, struct outside_ring *ring)
{
	r->ring = grow(r->ring, r->rings, &r->room, sizeof(*r->ring));
	r->ring[r->rings++] = ring;
	if (r->stacks)
		ring->record = xcalloc(1, RECORD_MAX);
}

void rings_remove(struct rings *r, struct outside_ring *ring)
{
	for (size_t i = 0; i < r->rings; i++)
		if (r->ring[i] == ring) {
			r->ring[i] = r->ring[--r->rings];
			free(ring->record);
			ring->record = NULL;
			return;
		}
}

/* Fetch the ring's next record, unless one waits. */
static void fetch(struct rings *r, struct outside_ring *ring)
{
	struct perf_record common;
	struct perf_event_header *h = ring->record;
	size_t room = RECORD_MAX;
	int err;

	if (!h) {
		h = &common.header;
		room = sizeof(common);
	}

	while (!ring->waiting) {
		err = perf_ring_take(&ring->perf, h, room);
		if (!err)
			return;
		if (err == -EMSGSIZE && h->type == PERF_RECORD_MMAP2) {
			r->maps_missed = true;
			continue;
		}
		if (err > 0) {
			err = ring->decode
				      ? ring->decode(ring->decode_ctx, h,
						     &ring->next)
				      : outside_record_decode(h, &ring->next);
			ring->waiting = !err;
			if (!err || err == -ENOTSUP)
				continue;
		}
		r->damaged++;
	}
}

bool rings_next(struct rings *r, uint64_t until, struct outside_record *record,
		struct outside_ring **from)
{
	struct outside_ring *first = NULL;

	for (size_t i = 0; i < r->rings; i++) {
		struct outside_ring *ring = r->ring[i];

		fetch(r, ring);
		if (ring->waiting &&
		    (!first || ring->next.time < first->next.time))
			first = ring;
	}
	if (!first || first->next.time > until)
		return false;
	*record = first->next;
	*from = first;
	first->waiting = false;
	return true;
}

void rings_release(struct rings *r)
{
	free(r->ring);
	*r = (struct rings){ 0 };
}

int ring_map(struct outside_ring *ring, int fd, uint32_t pages)
{
	for (;; pages /= 2) {
		size_t bytes = ((size_t)pages + 1) * PERF_RING_PAGE;
		void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				fd, 0);

		if (at != MAP_FAILED) {
			perf_ring_init(&ring->perf, at, pages);
			return 0;
		}
		/* EPERM: more than perf_event_mlock_kb allows. */
		if ((errno != EPERM && errno != ENOMEM) || pages == 1)
			return -errno;
	}
}

void ring_unmap(struct outside_ring *ring)
{
	if (ring->perf.page)
		munmap(ring->perf.page, ring->perf.bytes + PERF_RING_PAGE);
	ring->perf.page = NULL;
	ring->waiting = false;
}
