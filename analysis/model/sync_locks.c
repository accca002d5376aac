/* SPDX-License-Identifier: MIT */
/*
 * sync_locks - mutexes, spin locks and locks of readers and writers
 */
#include <string.h>

#include "sync_locks.h"
#include "analysis/base/util.h"

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

/* The loan of @lock by @thread, or NULL. */
static struct sync_loan *loan_of(const struct sync_object *lock,
				 uint32_t thread)
{
	for (size_t i = lock->loans; i; i--)
		if (lock->loan[i - 1].lender == thread)
			return &lock->loan[i - 1];
	return NULL;
}

bool sync_acquire(struct sync_engine *e, uint32_t thread,
		  struct sync_object *lock, bool reads, double time)
{
	struct sync_member *t = &e->thread[thread];
	struct sync_loan *loan;

	t->lock = NULL;
	t->asked = time;
	loan = loan_of(lock, thread);
	if (loan) {
		loan->depth++;
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

/* The owner's part. */
static void lend(struct sync_object *lock)
{
	lock->loan = grow(lock->loan, lock->loans, &lock->loans_room,
			  sizeof(*lock->loan));
	lock->loan[lock->loans++] =
		(struct sync_loan){ lock->owner, lock->depth };
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
	if (!over)
		lend(lock);
	lock->owner = thread;
	lock->depth = 1;
	t->lock = NULL;
	sync_make_ready(e, thread, from - e->wake);
}

/* It needs @lock no more. */
static void end_loan(struct sync_object *lock, struct sync_loan *loan)
{
	size_t behind = (size_t)(lock->loan + lock->loans - loan) - 1;

	memmove(loan, loan + 1, behind * sizeof(*loan));
	lock->loans--;
}

/* @thread unlocks @lock, which is lent. */
static void unlock_lent(struct sync_object *lock, uint32_t thread)
{
	struct sync_loan *loan = loan_of(lock, thread);

	if (loan) {
		if (!--loan->depth)
			end_loan(lock, loan);
	} else if (!--lock->depth) {
		loan = &lock->loan[lock->loans - 1];
		lock->owner = loan->lender;
		lock->depth = loan->depth;
		lock->loans--;
	}
}

void sync_unlock(struct sync_engine *e, uint32_t thread,
		 struct sync_object *lock, double time)
{
	if (lock->loans) {
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
