/* SPDX-License-Identifier: MIT */
/*
 * sync_locks - mutexes, spin locks and locks of readers and writers
 */
#ifndef COMDET_ANALYSIS_MODEL_SYNC_LOCKS_H
#define COMDET_ANALYSIS_MODEL_SYNC_LOCKS_H

#include "sync_cores.h"

/*
 * @thread wants @lock at @time. Returns false, and it waits in the list of the
 * lock, if it cannot have it.
 */
bool sync_acquire(struct sync_engine *e, uint32_t thread,
		  struct sync_object *lock, bool reads, double time);

/*
 * @thread has the lock that it waits for, and then its owner has it again, if
 * that has not ended.
 */
void sync_borrow(struct sync_engine *e, uint32_t thread);

/* @thread unlocks it at @time: those that wait come next. */
void sync_unlock(struct sync_engine *e, uint32_t thread,
		 struct sync_object *lock, double time);

#endif
