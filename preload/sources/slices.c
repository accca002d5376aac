/* SPDX-License-Identifier: MIT */
/*
 * slices - samples and detections by slices of time
 *
 * The sums of a run do not depend on them. So what finds no room here is not
 * lost: the report says how many detections are in no slice.
 */
#include "slices.h"
#include "src/store/time_slices.h"
#include "src/base/signal_safe.h"

static struct slice_samples samples;

void slices_init(void)
{
	slice_samples_restart(&samples);
}

void slices_sample(const struct thread *t)
{
	slice_samples_add(&runtime.store, &samples, t->clock_at);
}

void slices_detected(struct thread *t, const struct detection *d)
{
	slice_table_add(&runtime.store, &t->slices, d, t->clock_at);
}
