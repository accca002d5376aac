/* SPDX-License-Identifier: MIT */
/*
 * detections - communication that the engines found, into the file
 */
#ifndef COMDET_PRELOAD_EMU_DETECTIONS_H
#define COMDET_PRELOAD_EMU_DETECTIONS_H

#include "state.h"

/* Begin a file. Context: set-up. */
void emu_detections_init(void);

/* Count a sample of @v, taken at its now_ns, in its slice of time. */
void emu_detections_sample(const struct vcpu *v);

/* Count @d in the tables of @v, for the report's map. */
void emu_detections_add(struct vcpu *v, const struct detection *d);

#endif
