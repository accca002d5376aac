/* SPDX-License-Identifier: MIT */
/*
 * named_regions - samples and detections by the regions that a program names
 *
 * A program names regions with comdet_begin and comdet_end (src/base/comdet.h).
 * Each thread has a stack of the regions that it is in. A sample, and a
 * detection, counts for the innermost region of its thread. Regions of the same
 * name are one region, and have one record (CDP_MEMORY_REGION) in the file,
 * which all threads count in: samples are rare.
 *
 * begin and end do not wait, allocate or make a system call. A signal handler
 * of the program may use regions in the middle of both. A name's slot is filled
 * by the thread that finds it empty and is never emptied; a thread that finds a
 * slot being filled passes on to the next one. So a name may have two slots,
 * each with a record: a reader adds up records of the same name.
 */
#ifndef COMDET_STORE_NAMED_REGIONS_H
#define COMDET_STORE_NAMED_REGIONS_H

#include <stdatomic.h>
#include <stdint.h>

#include "src/engine/comm.h"
#include "store.h"

enum {
	NAMED_REGIONS_MAX = 256, /* one of them for all further names */
	REGION_DEPTH_MAX = 30,
};

/*
 * Of one thread; all zero: it is in no region. Regions nested deeper are
 * counted and not told apart: the last one that is told stands for them.
 */
struct region_stack {
	uint32_t depth;
	uint16_t open[REGION_DEPTH_MAX]; /* slots, outermost first */
};

struct named_region {
	_Atomic uint32_t state;
	char name[CDP_REGION_NAME_BYTES];
	_Atomic(struct cdp_memory *) record; /* NULL: not counted yet */
};

/* Zero-initialized, there is no region. */
struct named_regions {
	_Atomic uint32_t lock; /* guards the writer */
	struct store_writer writer;
	struct named_region slot[NAMED_REGIONS_MAX];
};

/*
 * The thread of @stack begins region @name, which is cut to
 * CDP_REGION_NAME_BYTES - 1 bytes. NULL and "" are the name "(no name)".
 * Context: any of the thread.
 */
void named_region_begin(struct named_regions *r, struct region_stack *stack,
			const char *name);

/*
 * It ends the innermost region @name, and those that it began in it, which an
 * exception or a jump may have left. Nothing happens if it is in no region of
 * this name. Context: any of the thread.
 */
void named_region_end(struct named_regions *r, struct region_stack *stack,
		      const char *name);

/*
 * Count a sample of @kind that stands for @weight samples, or detection @d, for
 * the region that @stack is in, if it is in one.
 *
 * Context: the thread's handler, all signals blocked. Tries a lock a bounded
 * number of times if the region has no record yet. Returns 0; if it was not
 * counted, -ENOSPC: there is no room for a record, or -EAGAIN: other threads
 * kept the lock.
 */
int named_region_sample(struct named_regions *r, struct store *s,
			const struct region_stack *stack, enum sample_kind kind,
			uint32_t weight);
int named_region_detected(struct named_regions *r, struct store *s,
			  const struct region_stack *stack,
			  const struct detection *d);

/*
 * Begin another file: the names stay, because threads are in them. Context:
 * set-up, also in a forked child.
 */
void named_regions_restart(struct named_regions *r);

#endif
