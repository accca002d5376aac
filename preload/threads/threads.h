/* SPDX-License-Identifier: MIT */
/*
 * threads - one struct thread for each thread, from its begin to its end
 *
 * The creator of a thread makes its struct thread; from the thread's begin to
 * its end it belongs to the thread. A thread that no hook saw (raw clone) makes
 * its own in the handler. One mapping holds the struct, the source's part, the
 * interpreter and the handler's stack; a few slots, exchanged atomically,
 * recycle the mappings.
 */
#ifndef COMDET_PRELOAD_THREADS_THREADS_H
#define COMDET_PRELOAD_THREADS_THREADS_H

#include <stdint.h>

struct thread;

/* Give the calling thread, the main thread, its record. Context: set-up. */
int threads_init(void);

/* At the end of the process: merge ended threads and close all rows. */
void threads_finish(void);

/* In the creating thread; NULL when not profiled or out of memory. */
struct thread *threads_prepare(void *(*start)(void *));
/* The thread could not be created. */
void threads_discard(struct thread *t);
/* In the new thread, before its start routine; at its end. */
void threads_begin(struct thread *t);
void threads_end(void);

/* Make the calling thread's record now; NULL if that fails. Any context. */
struct thread *thread_adopt(void);

/*
 * End the adopted threads that are gone, on behalf of the calling thread @self:
 * close what they hold, and their rows. Context: handler.
 */
void threads_reap(const struct thread *self);

/* Write the calling thread's name, CPU time and counts. Any context. */
void thread_refresh(struct thread *t);

#endif
