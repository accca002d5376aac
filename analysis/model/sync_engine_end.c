/* SPDX-License-Identifier: MIT */
/*
 * sync_engine_end - threads wait and none of them runs: who had a lock before,
 * or what is wrong
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "sync_locks.h"

/* The thread that @t waits for, or SYNC_NOWHERE. */
static uint32_t waits_for(const struct sync_member *t)
{
	if (t->lock)
		return t->lock->owner;
	if (t->event.kind == SYNC_JOIN)
		return (uint32_t)t->event.object;
	return SYNC_NOWHERE;
}

/* @from waits for the end of @thread, or of one that waits for it. */
static bool waits_for_end(const struct sync_engine *e, uint32_t from,
			  uint32_t thread)
{
	for (uint32_t i = 0; i < e->threads && from != SYNC_NOWHERE; i++) {
		from = waits_for(&e->thread[from]);
		if (from == thread)
			return true;
	}
	return false;
}

/*
 * The owner of the lock that @t waits for waits too, and for no lock; or, if
 * the trace is @complete, has ended.
 */
static bool had_it_before(const struct sync_engine *e,
			  const struct sync_member *t, bool complete)
{
	const struct sync_member *owner;

	if (t->state != SYNC_BLOCKED || !t->lock ||
	    t->lock->owner == SYNC_NOWHERE)
		return false;
	owner = &e->thread[t->lock->owner];
	return owner->state == SYNC_BLOCKED
		       ? !owner->lock
		       : complete && owner->state == SYNC_ENDED;
}

/* @t rather than @u had the lock before that it waits for: by one loan only. */
static bool is_rather(const struct sync_member *t, const struct sync_member *u)
{
	if (!t->lock->loans != !u->lock->loans)
		return !t->lock->loans;
	return t->asked < u->asked;
}

bool sync_engine_go_before(struct sync_engine *e, bool complete)
{
	uint32_t best = SYNC_NOWHERE;

	for (uint32_t i = 0; i < e->threads; i++) {
		const struct sync_member *t = &e->thread[i];

		if (!had_it_before(e, t, complete))
			continue;
		if (waits_for_end(e, t->lock->owner, i)) {
			best = i;
			break;
		}
		if (best == SYNC_NOWHERE || is_rather(t, &e->thread[best]))
			best = i;
	}
	if (best == SYNC_NOWHERE)
		return false;
	sync_borrow(e, best);
	return true;
}

/* The first thread in the order of threads. */
static uint32_t first_of_circle(const struct sync_engine *e, uint32_t i)
{
	uint32_t first = i, next = waits_for(&e->thread[i]);

	for (; next != i; next = waits_for(&e->thread[next]))
		if (next < first)
			first = next;
	return first;
}

/* Follow the threads from @i to one that does not wait for a blocked one. */
static uint32_t cause_of(const struct sync_engine *e, uint32_t i, bool *circle)
{
	uint32_t steps = 0, next;

	*circle = false;
	for (;;) {
		next = waits_for(&e->thread[i]);
		if (next == SYNC_NOWHERE ||
		    e->thread[next].state != SYNC_BLOCKED)
			return i;
		i = next;
		if (++steps > e->threads) {
			*circle = true;
			return first_of_circle(e, i);
		}
	}
}

/* "thread 1 at instruction 0x401000 waits for lock 0x404040" */
static int tell_wait(const struct sync_member *t, char *to, size_t size)
{
	const struct sync_event *v = &t->event;
	char at[40] = "";

	if (v->where)
		snprintf(at, sizeof(at), " at instruction 0x%" PRIx64,
			 v->where);
	if (t->lock)
		return snprintf(to, size,
				"thread %u%s waits for lock 0x%" PRIx64,
				t->name, at, t->lock->address);
	if (v->kind == SYNC_JOIN)
		return snprintf(to, size,
				"thread %u%s waits for the end of thread "
				"%" PRIu64,
				t->name, at, v->object);
	return snprintf(to, size, "thread %u%s waits in a %s of 0x%" PRIx64,
			t->name, at, sync_names[v->kind], v->object);
}

static size_t room_after(int n)
{
	return n > 0 && n < SYNC_ERROR_BYTES ? (size_t)n : SYNC_ERROR_BYTES - 1;
}

static void tell_circle(const struct sync_engine *e, uint32_t first,
			char error[SYNC_ERROR_BYTES])
{
	size_t n = room_after(snprintf(error, SYNC_ERROR_BYTES, "deadlock: "));
	uint32_t i = first;

	do {
		n += (size_t)tell_wait(&e->thread[i], error + n,
				       SYNC_ERROR_BYTES - n);
		i = waits_for(&e->thread[i]);
		n = room_after((int)n);
		n += (size_t)snprintf(error + n, SYNC_ERROR_BYTES - n, "%s",
				      i == first ? "" : ", ");
		n = room_after((int)n);
	} while (i != first);
}

/* How a message about the wait of @t begins and ends. */
static void tell_cause(const struct sync_engine *e, const struct sync_member *t,
		       char error[SYNC_ERROR_BYTES])
{
	uint32_t other = waits_for(t);
	char wait[SYNC_ERROR_BYTES - 100], why[80] = "";
	const char *kind = "deadlock";

	tell_wait(t, wait, sizeof(wait));
	if (t->lock && other != SYNC_NOWHERE)
		snprintf(why, sizeof(why), ", which thread %u had at its end",
			 e->thread[other].name);
	else if (t->lock)
		snprintf(why, sizeof(why), ", which readers had at their end");
	else if (other != SYNC_NOWHERE)
		snprintf(why, sizeof(why), ", which never began");
	else if (t->event.kind == SYNC_BARRIER) {
		kind = "unbalanced barrier";
		snprintf(why, sizeof(why),
			 ", and fewer than %" PRIu64 " threads came",
			 t->event.argument);
	} else {
		kind = "lost wakeup";
		snprintf(why, sizeof(why), ", and no thread ends this wait");
	}
	snprintf(error, SYNC_ERROR_BYTES, "%s: %s%s", kind, wait, why);
}

int sync_engine_check_end(const struct sync_engine *e,
			  char error[SYNC_ERROR_BYTES])
{
	uint32_t i = 0;
	bool circle;

	while (i < e->threads && e->thread[i].state != SYNC_BLOCKED)
		i++;
	if (i == e->threads)
		return 0;
	i = cause_of(e, i, &circle);
	if (circle)
		tell_circle(e, i, error);
	else
		tell_cause(e, &e->thread[i], error);
	return -EINVAL;
}
