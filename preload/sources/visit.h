/* SPDX-License-Identifier: MIT */
/*
 * visit - what the thread does with a line that it was detected on
 *
 * The interpreter executes the coming instructions on a copy: its window shows
 * which bytes of the line the thread touches besides the one access that
 * detected. visits.h judges by these whether padding would avoid the detection.
 */
#ifndef COMDET_PRELOAD_SOURCES_VISIT_H
#define COMDET_PRELOAD_SOURCES_VISIT_H

#include "preload/core/thread.h"

struct cpu_state;

/*
 * Thread @t, whose registers are @cpu, made detection @d. Returns the
 * judgement; unknown if @cpu is NULL or the interpreter is in use. Context:
 * handler, on the handler's stack.
 */
enum padding visit_of(struct thread *t, const struct cpu_state *cpu,
		      const struct detection *d);

/* Thread @t was sampled at access @a. Context: handler. */
void visit_note(const struct thread *t, const struct access *a);

/* Forget all lines. Context: set-up. */
void visit_init(void);

#endif
