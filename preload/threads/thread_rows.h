/* SPDX-License-Identifier: MIT */
/*
 * thread_rows - the threads' rows in the file: made, merged, used again
 *
 * Rows of threads that ended without a trace in any detection are merged by
 * name and start routine, a while after the end, when nobody can meet their
 * entries on the board any more; their rows are then used again. So ten
 * thousand short threads cost a handful of rows.
 *
 * A row belongs to its thread from thread_row_new to thread_row_ended. One
 * lock guards the bookkeeping. Nobody waits for it for ever: a handler (a
 * thread that no hook saw) only tries, and a handler of the application's may
 * have interrupted the holder and call _exit. Who does not get it leaves a row
 * unmerged, or a thread without a row.
 */
#ifndef COMDET_PRELOAD_CORE_THREAD_ROWS_H
#define COMDET_PRELOAD_CORE_THREAD_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "src/store/cdp.h"

/* Set-up, in a followed child once more. Returns 0 or -errno. */
int thread_rows_init(void);

/*
 * A row for a thread that begins now; NULL if there is no room, or the lock is
 * taken and the caller is a handler, which must not wait.
 */
struct cdp_thread *thread_row_new(void *(*start)(void *), bool may_wait);

/* The thread of @r never began: the row is free. Context: no handler. */
void thread_row_discard(struct cdp_thread *r);

/* The thread of @r ended at @now, its record is final. Context: no handler. */
void thread_row_ended(struct cdp_thread *r, uint64_t now);

/* Merge all that have ended. Context: the end of the process, at @now. */
void thread_rows_finish(uint64_t now);

/* Whoever reads the file sees some name that ends. Context: any. */
void thread_row_name(struct cdp_thread *r, const char *name);

/* Thread @id is in a detection, so its row must stay. Any context. */
void thread_mark_referenced(uint32_t id);

/* Detections in the file, of all threads. Any context. */
uint64_t thread_rows_detections(void);

#endif
