/* SPDX-License-Identifier: MIT */
/*
 * slices - samples and detections by slices of time (src/store/time_slices.h)
 */
#ifndef COMDET_PRELOAD_SOURCES_SLICES_H
#define COMDET_PRELOAD_SOURCES_SLICES_H

#include "preload/core/thread.h"

/* Begin anew. Context: set-up, in a forked child too. */
void slices_init(void);

/* The calling thread @t was sampled, or made detection @d. Context: handler. */
void slices_sample(const struct thread *t);
void slices_detected(struct thread *t, const struct detection *d);

#endif
