/* SPDX-License-Identifier: MIT */
/*
 * regions - samples and detections by the regions that the program names
 */
#include <errno.h>

#include "regions.h"
#include "preload/core/local.h"
#include "src/store/named_regions.h"
#include "src/base/signal_safe.h"

_Static_assert(sizeof(struct region_stack) <= LOCAL_BYTES - LOCAL_REGIONS,
	       "it fits");

static struct named_regions regions;
static _Atomic bool ready; /* the threads' memory may be written to */

static struct region_stack *own(void)
{
	return local_get(LOCAL_REGIONS);
}

void regions_init(void)
{
	named_regions_restart(&regions);
	atomic_store_explicit(&ready, true, memory_order_relaxed);
}

void regions_begin(const char *name)
{
	if (atomic_load_explicit(&ready, memory_order_relaxed))
		named_region_begin(&regions, own(), name);
}

void regions_end(const char *name)
{
	if (atomic_load_explicit(&ready, memory_order_relaxed))
		named_region_end(&regions, own(), name);
}

void regions_thread_begin(void)
{
	if (atomic_load_explicit(&ready, memory_order_relaxed))
		own()->depth = 0;
}

/*
 * What finds the lock taken counts for no region, as the report says of the
 * whole less the regions. So it is not lost.
 */
void regions_sample(struct thread *t, enum sample_kind kind)
{
	if (own()->depth &&
	    named_region_sample(&regions, &runtime.store, own(), kind,
				t->comm.weight) == -ENOSPC)
		count_loss(t, LOSS_STORE_FULL);
}

void regions_detected(struct thread *t, const struct detection *d)
{
	if (own()->depth && named_region_detected(&regions, &runtime.store,
						  own(), d) == -ENOSPC)
		count_loss(t, LOSS_STORE_FULL);
}
