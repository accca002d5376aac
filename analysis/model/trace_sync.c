/* SPDX-License-Identifier: MIT */
/*
 * trace_sync - the synchronization in a trace, as sync_engine takes it
 */
#include <stdlib.h>

#include "trace_sync.h"
#include "trace_live.h"
#include "analysis/base/util.h"

static const enum sync_kind kinds[TRACE_EVENT_KINDS] = {
	[TRACE_CREATE] = SYNC_CREATE,
	[TRACE_JOIN] = SYNC_JOIN,
	[TRACE_EXIT] = SYNC_EXIT,
	[TRACE_LOCK] = SYNC_LOCK,
	[TRACE_UNLOCK] = SYNC_UNLOCK,
	[TRACE_READ_LOCK] = SYNC_READ_LOCK,
	[TRACE_BARRIER] = SYNC_BARRIER,
	[TRACE_COND_WAIT] = SYNC_COND_WAIT,
	[TRACE_COND_SIGNAL] = SYNC_COND_SIGNAL,
	[TRACE_COND_BROADCAST] = SYNC_COND_BROADCAST,
	[TRACE_SEM_WAIT] = SYNC_SEM_WAIT,
	[TRACE_SEM_POST] = SYNC_SEM_POST,
	[TRACE_SEM_INIT] = SYNC_SEM_INIT,
	[TRACE_SET] = SYNC_SET,
	[TRACE_AWAIT] = SYNC_AWAIT,
};

static int compare_id(const void *key, const void *thread)
{
	return order_u64(*(const uint64_t *)key,
			 ((const struct trace_thread *)thread)->id);
}

enum {
	NONE = TRACE_THREADS_MAX
};

/* The place of thread @id in @t; NONE if there is none. */
static size_t find_thread(const struct trace *t, uint64_t id)
{
	const struct trace_thread *found;

	if (t->live)
		return id < NONE && trace_live_knows(t->live, id) ? id : NONE;
	found = bsearch(&id, t->thread, t->threads, sizeof(*t->thread),
			compare_id);
	return found ? (size_t)(found - t->thread) : NONE;
}

bool trace_sync_event(struct trace_sync *s, const struct trace *t,
		      const struct trace_event *event, struct sync_event *to)
{
	if (event->kind == TRACE_PAIR) {
		s->paired = true;
		s->pair = event->object;
	}
	if (event->kind == TRACE_PAIR || event->kind == TRACE_BEGIN)
		return false;
	to->kind = kinds[event->kind];
	to->object = event->object;
	to->argument = event->argument;
	to->pair = 0;
	to->timeout = false;
	switch (event->kind) {
	case TRACE_CREATE:
	case TRACE_JOIN:
		to->object = find_thread(t, event->object);
		return to->object != NONE;
	case TRACE_COND_WAIT:
		to->pair = s->pair;
		to->timeout = s->paired && !s->pair;
		*s = (struct trace_sync){ .paired = false };
		return true;
	case TRACE_COND_SIGNAL:
	case TRACE_COND_BROADCAST:
	case TRACE_SET:
	case TRACE_AWAIT:
		to->pair = event->argument;
		return true;
	default:
		return true;
	}
}

bool trace_sync_is_created(const struct trace_step *step)
{
	return !step->block && step->events &&
	       step->event[0].kind == TRACE_BEGIN;
}
