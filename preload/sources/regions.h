/* SPDX-License-Identifier: MIT */
/*
 * regions - samples and detections by the regions that the program names
 *
 * comdet_begin and comdet_end (src/base/comdet.h) lead here. The stack of a
 * thread's regions lies in its part of core/local.h, so a thread that has no
 * record yet has it too, and a forked child stays in its parent's regions. A
 * new thread is in no region.
 */
#ifndef COMDET_PRELOAD_SOURCES_REGIONS_H
#define COMDET_PRELOAD_SOURCES_REGIONS_H

#include "preload/core/thread.h"

/* Begin anew, with the same names. Context: set-up, in a forked child too. */
void regions_init(void);

/*
 * The calling thread begins or ends a region; nothing happens before the first
 * regions_init(). Context: any.
 */
void regions_begin(const char *name);
void regions_end(const char *name);

/* The calling thread is new, perhaps on an earlier one's stack. Context: any.
 */
void regions_thread_begin(void);

/*
 * The calling thread @t was sampled, with the weight that t->comm has, or made
 * detection @d. Context: handler.
 */
void regions_sample(struct thread *t, enum sample_kind kind);
void regions_detected(struct thread *t, const struct detection *d);

#endif
