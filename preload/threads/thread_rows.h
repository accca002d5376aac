/* SPDX-License-Identifier: MIT */
/*
 * thread_rows - the threads' rows in the file: made, merged, used again
 *
 * Threads that end without being part of any detection are merged into one row
 * by name and start routine. That happens a while after their end, when most
 * entries of theirs on the board have expired; a later detection names the
 * merged row. Their rows are then used again. So ten
 * thousand short threads cost a handful of rows.
 *
 * A row belongs to its thread from thread_row_new to thread_row_ended. One
 * lock guards the bookkeeping, and every wait for it is bounded: our handler
 * (for a thread that no hook saw) tries once, and elsewhere the number of tries
 * is limited, since a handler of the application's may interrupt the holder and
 * call _exit. A caller that does not get the lock leaves a row unmerged, or a
 * thread without a row.
 */
#ifndef COMDET_PRELOAD_THREADS_THREAD_ROWS_H
#define COMDET_PRELOAD_THREADS_THREAD_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/store/cdp.h"

/* Returns 0 or -errno. Context: set-up, also of a followed child. */
int thread_rows_init(void);

/*
 * Returns a row for a thread that begins now. NULL if there is no room, or if
 * the lock is taken and the caller, a handler, must not wait (@may_wait is
 * false).
 */
struct cdp_thread *thread_row_new(void *(*start)(void *), bool may_wait);

/* The thread of @r never began: free the row. Context: no handler. */
void thread_row_discard(struct cdp_thread *r);

/*
 * The thread of @r ended at @now; its row is final. Context: any; a handler
 * must not wait for the lock (@may_wait is false).
 */
void thread_row_ended(struct cdp_thread *r, uint64_t now, bool may_wait);

/* Merge all that have ended. Context: the end of the process, at @now. */
void thread_rows_finish(uint64_t now);

/*
 * Copy a name of the kernel, 16 bytes. A reader of the file always finds it
 * terminated. Any context.
 */
void thread_row_name(struct cdp_thread *r, const char *name);

/*
 * Thread @id is part of a detection, so its row must stay. Returns the id that
 * the detection must name: a thread that samples seldom may meet the entry of
 * one that ended long ago and is in a merged row by now. Any context.
 */
uint32_t thread_mark_referenced(uint32_t id);

/* True until the thread of row @id has ended. Any context. */
bool thread_row_lives(uint32_t id);

/* Returns the detections in the file, of all threads. Any context. */
uint64_t thread_rows_detections(void);

#endif
