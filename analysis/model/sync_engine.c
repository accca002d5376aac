/* SPDX-License-Identifier: MIT */
/*
 * sync_engine - which threads wait for which, and on which cores they run
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sync_engine.h"
#include "sync_locks.h"
#include "analysis/base/util.h"

const char *const sync_names[SYNC_KINDS] = {
#define X(NAME, name) [SYNC_##NAME] = name,
	SYNC_LIST(X)
#undef X
};

void sync_engine_extend(struct sync_engine *e, uint32_t threads)
{
	struct sync_member *more;

	if (threads <= e->threads && e->thread)
		return;
	more = xcalloc(threads + 1, sizeof(*more));
	for (uint32_t i = 0; i < threads; i++) {
		if (i < e->threads) {
			more[i] = e->thread[i];
			continue;
		}
		more[i].name = i;
		more[i].core = more[i].last_core = SYNC_NOWHERE;
	}
	free(e->thread);
	e->thread = more;
	e->threads = threads;
}

struct sync_engine *sync_engine_new(uint32_t threads, uint32_t cores,
				    double wake, const struct sync_hooks *hooks)
{
	struct sync_engine *e = xcalloc(1, sizeof(*e));

	e->cores = cores;
	e->wake = wake;
	e->hooks = *hooks;
	e->on = xcalloc(cores, sizeof(*e->on));
	e->free_at = xcalloc(cores, sizeof(*e->free_at));
	e->first = e->last = SYNC_NOWHERE;
	for (uint32_t i = 0; i < cores; i++)
		e->on[i] = SYNC_NOWHERE;
	sync_engine_extend(e, threads);
	return e;
}

void sync_engine_free(struct sync_engine *e)
{
	sync_objects_release(&e->objects);
	free(e->thread);
	free(e->on);
	free(e->free_at);
	free(e->pair);
	free(e);
}

void sync_engine_name(struct sync_engine *e, uint32_t thread, uint32_t name)
{
	e->thread[thread].name = name;
}

void sync_engine_start(struct sync_engine *e, uint32_t thread, double time)
{
	if (e->thread[thread].state == SYNC_ABSENT)
		sync_begin(e, thread, time);
}

static void on_lock(struct sync_engine *e, uint32_t thread, uint64_t address,
		    bool reads, double time)
{
	struct sync_object *lock =
		sync_objects_get(&e->objects, SYNC_CLASS_LOCK, address);

	if (sync_acquire(e, thread, lock, reads, time))
		sync_go_on(e, thread, time, lock->free_at);
	else
		sync_stop(e, thread, SYNC_BLOCKED, time);
}

static void on_unlock(struct sync_engine *e, uint32_t thread, uint64_t address,
		      double time)
{
	sync_unlock(e, thread,
		    sync_objects_get(&e->objects, SYNC_CLASS_LOCK, address),
		    time);
}

/* ---- pairs, condition variables ---------------------------------------- */

static double came(const struct sync_engine *e, uint64_t pair)
{
	return pair < e->pairs ? e->pair[pair] : 0;
}

/* A wait of @thread for a condition has ended: take the mutex again. */
static void woken(struct sync_engine *e, uint32_t thread, double time)
{
	uint64_t mutex = e->thread[thread].event.argument;
	struct sync_object *lock;

	if (!mutex) {
		sync_make_ready(e, thread, time);
		return;
	}
	lock = sync_objects_get(&e->objects, SYNC_CLASS_LOCK, mutex);
	if (sync_acquire(e, thread, lock, false, time + e->wake))
		sync_make_ready(e, thread, sync_later(time, lock->free_at));
}

static bool waits_for_pair(const struct sync_member *t, uint64_t pair)
{
	return t->state == SYNC_BLOCKED && !t->lock && t->event.pair == pair &&
	       (t->event.kind == SYNC_AWAIT || t->event.kind == SYNC_COND_WAIT);
}

static void set_pair(struct sync_engine *e, uint64_t pair, double time)
{
	if (!pair)
		return;
	while (pair >= e->pairs) {
		size_t pairs = e->pairs ? 2 * e->pairs : 64;
		double *more = xcalloc(pairs, sizeof(*more));

		for (size_t i = 0; i < e->pairs; i++)
			more[i] = e->pair[i];
		free(e->pair);
		e->pair = more;
		e->pairs = pairs;
	}
	e->pair[pair] = time + 1;
	for (uint32_t i = 0; i < e->threads; i++) {
		if (!waits_for_pair(&e->thread[i], pair))
			continue;
		if (e->thread[i].event.kind == SYNC_AWAIT)
			sync_make_ready(e, i, time);
		else
			woken(e, i, time);
	}
}

static void on_await(struct sync_engine *e, uint32_t thread, uint64_t pair,
		     double time)
{
	double at = came(e, pair);

	if (at)
		sync_go_on(e, thread, time, at - 1);
	else
		sync_stop(e, thread, SYNC_BLOCKED, time);
}

static void on_cond_wait(struct sync_engine *e, uint32_t thread,
			 const struct sync_event *event, double time)
{
	struct sync_object *cond =
		sync_objects_get(&e->objects, SYNC_CLASS_COND, event->object);
	bool paired = event->pair, ends = event->timeout;
	double from = time;

	sync_stop(e, thread, SYNC_BLOCKED, time);
	if (event->argument)
		on_unlock(e, thread, event->argument, time);
	if (!ends && paired && came(e, event->pair)) {
		from = sync_later(time, came(e, event->pair) - 1);
		ends = true;
	} else if (!ends && !paired && cond->count) {
		cond->count--;
		from = sync_later(time, cond->free_at);
		ends = true;
	}
	if (ends)
		woken(e, thread, from);
	else if (!paired)
		sync_list_add(e, &cond->first, &cond->last, thread);
}

static void on_signal(struct sync_engine *e, const struct sync_event *event,
		      double time)
{
	struct sync_object *cond =
		sync_objects_get(&e->objects, SYNC_CLASS_COND, event->object);
	bool all = event->kind == SYNC_COND_BROADCAST;
	uint32_t i = sync_list_take(e, &cond->first);

	set_pair(e, event->pair, time);
	if (i == SYNC_NOWHERE && !event->pair) {
		cond->count++;
		cond->free_at = sync_later(cond->free_at, time);
	}
	while (i != SYNC_NOWHERE) {
		/* before the thread joins another list */
		uint32_t next =
			all ? sync_list_take(e, &cond->first) : SYNC_NOWHERE;

		woken(e, i, time);
		i = next;
	}
}

/* ---- the other events -------------------------------------------------- */

static void on_barrier(struct sync_engine *e, uint32_t thread,
		       const struct sync_event *event, double time)
{
	struct sync_object *b = sync_objects_get(
		&e->objects, SYNC_CLASS_BARRIER, event->object);
	double last;
	uint32_t i;

	b->free_at = sync_later(b->free_at, time);
	if (++b->count < event->argument) {
		sync_list_add(e, &b->first, &b->last, thread);
		sync_stop(e, thread, SYNC_BLOCKED, time);
		return;
	}
	last = b->free_at;
	b->count = 0;
	b->free_at = 0;
	while ((i = sync_list_take(e, &b->first)) != SYNC_NOWHERE)
		sync_make_ready(e, i, last);
	sync_go_on(e, thread, time, last);
}

static struct sync_object *semaphore(struct sync_engine *e,
				     const struct sync_event *event)
{
	size_t before = e->objects.n;
	struct sync_object *s =
		sync_objects_get(&e->objects, SYNC_CLASS_SEM, event->object);

	if (e->objects.n > before && event->kind != SYNC_SEM_INIT &&
	    event->argument)
		s->count = event->argument - 1;
	return s;
}

static void on_semaphore(struct sync_engine *e, uint32_t thread,
			 const struct sync_event *event, double time)
{
	struct sync_object *s = semaphore(e, event);
	uint32_t i;

	if (event->kind == SYNC_SEM_INIT) {
		s->count = event->argument;
	} else if (event->kind == SYNC_SEM_POST) {
		s->free_at = sync_later(s->free_at, time);
		i = sync_list_take(e, &s->first);
		if (i == SYNC_NOWHERE)
			s->count++;
		else
			sync_make_ready(e, i, time);
	} else if (s->count) {
		/* the literal order: it may be a later post that it uses */
		s->count--;
		sync_go_on(e, thread, time, s->count ? time : s->free_at);
	} else {
		sync_list_add(e, &s->first, &s->last, thread);
		sync_stop(e, thread, SYNC_BLOCKED, time);
	}
}

static void on_exit_of(struct sync_engine *e, uint32_t thread, double time)
{
	sync_stop(e, thread, SYNC_ENDED, time);
	for (uint32_t i = 0; i < e->threads; i++) {
		struct sync_member *t = &e->thread[i];

		if (t->state == SYNC_BLOCKED && t->event.kind == SYNC_JOIN &&
		    t->event.object == thread)
			sync_make_ready(e, i, time);
	}
}

static void on_join(struct sync_engine *e, uint32_t thread, uint64_t other,
		    double time)
{
	const struct sync_member *t = &e->thread[other];

	if (t->state == SYNC_ENDED)
		sync_go_on(e, thread, time, t->times.end);
	else
		sync_stop(e, thread, SYNC_BLOCKED, time);
}

static int refuse(const struct sync_engine *e, uint32_t thread,
		  const struct sync_event *event, const char *why,
		  char error[SYNC_ERROR_BYTES])
{
	bool known = (unsigned int)event->kind < SYNC_KINDS;

	snprintf(error, SYNC_ERROR_BYTES,
		 "thread %u, instruction 0x%" PRIx64 ": %s %s",
		 e->thread[thread].name, event->where,
		 known ? sync_names[event->kind] : "event", why);
	return -EINVAL;
}

/* What is wrong with @event, or NULL. */
static const char *fault(const struct sync_engine *e, uint32_t thread,
			 const struct sync_event *event)
{
	if ((unsigned int)event->kind >= SYNC_KINDS)
		return "of an unknown kind";
	if (event->pair >= SYNC_PAIRS_MAX)
		return "with too high a number";
	switch (event->kind) {
	case SYNC_CREATE:
		if (event->object >= e->threads)
			return "of a thread that is not there";
		if (e->thread[event->object].state != SYNC_ABSENT)
			return "of a thread that is there already";
		return NULL;
	case SYNC_JOIN:
		if (event->object >= e->threads)
			return "of a thread that is not there";
		return event->object == thread ? "of the thread itself" : NULL;
	case SYNC_BARRIER:
		return event->argument ? NULL : "of no threads";
	case SYNC_SET:
	case SYNC_AWAIT:
		return event->pair ? NULL : "without a number";
	default:
		return NULL;
	}
}

int sync_engine_event(struct sync_engine *e, uint32_t thread,
		      const struct sync_event *event, double time,
		      char error[SYNC_ERROR_BYTES])
{
	struct sync_member *t = &e->thread[thread];
	const char *why = fault(e, thread, event);

	if (why)
		return refuse(e, thread, event, why, error);
	t->event = *event;
	t->times.end = time;
	switch (event->kind) {
	case SYNC_CREATE:
		sync_begin(e, (uint32_t)event->object, time + e->wake);
		break;
	case SYNC_JOIN:
		on_join(e, thread, event->object, time);
		break;
	case SYNC_EXIT:
		on_exit_of(e, thread, time);
		break;
	case SYNC_LOCK:
	case SYNC_READ_LOCK:
		on_lock(e, thread, event->object, event->kind == SYNC_READ_LOCK,
			time);
		break;
	case SYNC_UNLOCK:
		on_unlock(e, thread, event->object, time);
		break;
	case SYNC_BARRIER:
		on_barrier(e, thread, event, time);
		break;
	case SYNC_COND_WAIT:
		on_cond_wait(e, thread, event, time);
		break;
	case SYNC_COND_SIGNAL:
	case SYNC_COND_BROADCAST:
		on_signal(e, event, time);
		break;
	case SYNC_SET:
		set_pair(e, event->pair, time);
		break;
	case SYNC_AWAIT:
		on_await(e, thread, event->pair, time);
		break;
	default:
		on_semaphore(e, thread, event, time);
	}
	return 0;
}

enum sync_state sync_engine_state(const struct sync_engine *e, uint32_t thread)
{
	return e->thread[thread].state;
}

uint32_t sync_engine_core(const struct sync_engine *e, uint32_t thread)
{
	return e->thread[thread].core;
}

struct sync_times sync_engine_times(const struct sync_engine *e,
				    uint32_t thread)
{
	return e->thread[thread].times;
}
