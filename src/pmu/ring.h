/* SPDX-License-Identifier: MIT */
/*
 * ring - the buffer in which the kernel leaves the records of an event
 *
 *	first page                data, a power of two of pages
 *	| ... head ... tail ... | record | record | ... | record (wrapped)
 *
 *	kernel                            we
 *	writes a record                   (B) reads head, acquire
 *	(A) writes head, a release        copies the record
 *	(D) reads tail before it          (C) writes tail, release
 *	    overwrites old bytes
 *
 * (A) pairs with (B): all bytes before head are written. (C) pairs with (D):
 *all bytes before tail are copied. The kernel's side is in its
 * kernel/events/ring_buffer.c.
 *
 * One reader, the thread that owns the events. Values from the kernel never
 *make us read outside of the ring. Context: any, handler included.
 */
#ifndef COMDET_PMU_RING_H
#define COMDET_PMU_RING_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

enum {
	PERF_RING_PAGE = 4096,
	PERF_RECORD_BYTES_MAX = 1024, /* of the records that we ask for */
};

struct perf_ring {
	struct perf_event_mmap_page *page; /* NULL: none */
	uint64_t bytes;                    /* of the data, a power of two */
};

/* One record of common size, copied so that it is contiguous. */
struct perf_record {
	union {
		struct perf_event_header header;
		uint64_t align[PERF_RECORD_BYTES_MAX / 8];
	};
};

/* Use the ring mapped at @at: @pages pages of data after the first page. */
void perf_ring_init(struct perf_ring *r, void *at, uint32_t pages);

/*
 * Take the next record. Returns 1; 0 if there is none; -EMSGSIZE for a record
 * longer than @room, which is skipped, with its header in @record; or -EPROTO
 * if the buffer is inconsistent: then all of its content is dropped. @record is
 * aligned to 8 and has room for a header at least.
 */
int perf_ring_take(struct perf_ring *r, void *record, size_t room);

/* The same for records of common size. */
int perf_ring_next(struct perf_ring *r, struct perf_record *record);

#endif
