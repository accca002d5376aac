/* SPDX-License-Identifier: MIT */
/*
 * detections - write what the engines detected to the file
 */
#include "detections.h"
#include "maps.h"
#include "state.h"

static struct slice_samples samples;

void emu_detections_init(void)
{
	slice_samples_restart(&samples);
}

/* One for which there is no room is missing from the slices alone. */
void emu_detections_sample(const struct vcpu *v)
{
	slice_samples_add(&emu.store, &samples, v->now_ns);
}

void emu_detections_add(struct vcpu *v, const struct detection *d)
{
	uint64_t generation;

	emu_maps_note(d->publisher.ip);
	generation = emu_maps_note(d->detector.ip);
	if (pair_table_add(&emu.store, &v->pairs, d, v->now_ns, generation)) {
		store_add(&v->record->loss[LOSS_STORE_FULL], 1);
		return;
	}
	if (call_table_add(&emu.store, &v->calls, d))
		store_add(&v->record->loss[LOSS_NO_PATH], 1);
	core_table_add(&emu.store, &v->cores, d);
	slice_table_add(&emu.store, &v->slices, d, v->now_ns);
	store_add(&v->record->detections, 1);
}
