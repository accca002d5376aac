/* SPDX-License-Identifier: MIT */
/*
 * sync_locks - mutexes, spin locks and locks of readers and writers
 */
#include "sync_locks.h"

static bool can_take(const struct sync_object *lock, uint32_t thread,
		     bool reads)
{
	if (lock->owner == thread)
		return true;
	return lock->owner == SYNC_NOWHERE && (reads || !lock->count);
}

static void take(struct sync_object *lock, uint32_t thread, bool reads)
{
	if (reads && lock->owner != thread) {
		lock->count++;
		return;
	}
	lock->owner = thread;
	lock->depth++;
}

bool sync_acquire(struct sync_engine *e, uint32_t thread,
		  struct sync_object *lock, bool reads, double time)
{
	struct sync_member *t = &e->thread[thread];

	t->lock = NULL;
	t->asked = time;
	if (lock->lender == thread) {
		lock->lent++;
		return true;
	}
	if (can_take(lock, thread, reads)) {
		take(lock, thread, reads);
		return true;
	}
	t->lock = lock;
	t->reads = reads;
	sync_list_add(e, &lock->first, &lock->last, thread);
	return false;
}

/* Let in those that wait: one writer, or all readers. */
static void hand_over(struct sync_engine *e, struct sync_object *lock,
		      double time)
{
	bool readers = false;
	uint32_t i, wait = lock->first, next;

	lock->first = lock->last = SYNC_NOWHERE;
	for (i = wait; i != SYNC_NOWHERE; i = next) {
		struct sync_member *t = &e->thread[i];

		next = t->next;
		if (lock->owner == SYNC_NOWHERE &&
		    (t->reads ? !lock->count || readers : !lock->count)) {
			readers = t->reads;
			take(lock, i, t->reads);
			t->lock = NULL;
			sync_make_ready(e, i, time);
		} else {
			sync_list_add(e, &lock->first, &lock->last, i);
		}
	}
}

static void take_from_list(struct sync_engine *e, struct sync_object *lock,
			   uint32_t thread)
{
	uint32_t i = lock->first, next;

	lock->first = lock->last = SYNC_NOWHERE;
	for (; i != SYNC_NOWHERE; i = next) {
		next = e->thread[i].next;
		if (i != thread)
			sync_list_add(e, &lock->first, &lock->last, i);
	}
}

void sync_borrow(struct sync_engine *e, uint32_t thread)
{
	struct sync_member *t = &e->thread[thread];
	struct sync_object *lock = t->lock;
	const struct sync_member *owner = &e->thread[lock->owner];
	bool over = owner->state == SYNC_ENDED;
	double from = t->asked;

	take_from_list(e, lock, thread);
	if (over)
		from = sync_later(from, owner->times.end);
	lock->lender = over ? SYNC_NOWHERE : lock->owner;
	lock->lent = lock->depth;
	lock->owner = thread;
	lock->depth = 1;
	t->lock = NULL;
	sync_make_ready(e, thread, from - e->wake);
}

/* @thread unlocks @lock, which is lent. */
static void unlock_lent(struct sync_object *lock, uint32_t thread)
{
	if (lock->lender == thread) {
		if (!--lock->lent)
			lock->lender = SYNC_NOWHERE;
	} else if (!--lock->depth) {
		lock->owner = lock->lender;
		lock->depth = lock->lent;
		lock->lender = SYNC_NOWHERE;
	}
}

void sync_unlock(struct sync_engine *e, uint32_t thread,
		 struct sync_object *lock, double time)
{
	if (lock->lender != SYNC_NOWHERE) {
		unlock_lent(lock, thread);
		return;
	}
	if (lock->owner != SYNC_NOWHERE) {
		if (lock->owner == thread && --lock->depth)
			return;
		lock->owner = SYNC_NOWHERE;
		lock->depth = 0;
	} else if (lock->count) {
		if (--lock->count) {
			lock->free_at = sync_later(lock->free_at, time);
			return;
		}
	} else {
		return;
	}
	lock->free_at = sync_later(lock->free_at, time);
	hand_over(e, lock, lock->free_at);
}
