/* SPDX-License-Identifier: MIT */
/*
 * rings - the buffers of all events, read as one stream in order of time
 *
 * Each processor has a ring for the clock's events and for what happens to
 * threads; each set of debug registers has a small one. The kernel writes a
 * record at most microseconds after its time, so the records up to a time
 * @until that lies before the reading are complete, and a merge of the rings is
 * in order. Later records wait for the next reading.
 *
 * One thread reads. What wakes it is the caller's business.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_RINGS_H
#define COMDET_ANALYSIS_OUTSIDE_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"
#include "src/pmu/ring.h"

struct outside_ring {
	struct perf_ring perf;
	void *owner;    /* the caller's, NULL: none */
	uint64_t ticks; /* of clocks, that were read */
	void *record;   /* with stacks: the last one, as the kernel wrote it */
	/* Decodes its records; NULL: outside_record_decode(). */
	int (*decode)(const void *ctx, const struct perf_event_header *h,
		      struct outside_record *r);
	const void *decode_ctx;
	bool waiting; /* next holds a record that was not yet handed out */
	struct outside_record next;
};

struct rings {
	struct outside_ring **ring;
	size_t rings, room;
	uint64_t damaged; /* records that were dropped as inconsistent */
	bool stacks;      /* records have them; set before adding rings */
	bool maps_missed; /* a mapping's record was too long to read */
};

/* Read @ring too; its perf and owner are set, the rest is zero. */
void rings_add(struct rings *r, struct outside_ring *ring);

/* No longer. What it still holds is dropped. */
void rings_remove(struct rings *r, struct outside_ring *ring);

/*
 * The earliest record of all rings, in @record, with its ring in *@from, if its
 * time is not after @until. False if there is none. Records without a time
 * come first. The record's stack is there until the next call.
 */
bool rings_next(struct rings *r, uint64_t until, struct outside_record *record,
		struct outside_ring **from);

void rings_release(struct rings *r);

/*
 * Map @pages pages of data of the event @fd for @ring; fewer if the kernel
 * grants no more memory to us. Returns 0 or -errno.
 */
int ring_map(struct outside_ring *ring, int fd, uint32_t pages);
void ring_unmap(struct outside_ring *ring);

#endif
