/* SPDX-License-Identifier: MIT */
/*
 * look - look through the windows that samples are chosen from
 *
 * src/engine/looks.h finds lines there that threads share too seldom for
 * samples to meet. What is sighted goes to the file, beside the detections and
 * apart from them.
 */
#ifndef COMDET_PRELOAD_SOURCES_LOOK_H
#define COMDET_PRELOAD_SOURCES_LOOK_H

#include "preload/core/thread.h"

/* Forget what was seen. Context: set-up, and a forked child. */
void look_init(void);

/*
 * Look through the window that @c was chosen from, if it is there. Before
 * interp_replay. Context: handler of @t.
 */
void look_through(struct thread *t, const struct choice *c);

#endif
