/* SPDX-License-Identifier: MIT */
/*
 * sync_cores - which threads run on which cores: the lower half of sync_engine
 */
#include "sync_cores.h"

void sync_list_add(struct sync_engine *e, uint32_t *first, uint32_t *last,
		   uint32_t thread)
{
	e->thread[thread].next = SYNC_NOWHERE;
	if (*first == SYNC_NOWHERE)
		*first = thread;
	else
		e->thread[*last].next = thread;
	*last = thread;
}

uint32_t sync_list_take(struct sync_engine *e, uint32_t *first)
{
	uint32_t thread = *first;

	if (thread != SYNC_NOWHERE)
		*first = e->thread[thread].next;
	return thread;
}

static void run_on(struct sync_engine *e, uint32_t thread, uint32_t core)
{
	struct sync_member *t = &e->thread[thread];
	double start = sync_later(t->ready, e->free_at[core]);

	e->on[core] = thread;
	t->state = SYNC_RUNNING;
	t->core = t->last_core = core;
	t->times.queued += start - t->ready;
	t->times.end = start;
	e->hooks.run(e->hooks.data, thread, core, start);
}

/* A free core for @t: that on which it ran, or the first. */
static uint32_t free_core(const struct sync_engine *e,
			  const struct sync_member *t)
{
	if (t->last_core != SYNC_NOWHERE && e->on[t->last_core] == SYNC_NOWHERE)
		return t->last_core;
	for (uint32_t i = 0; i < e->cores; i++)
		if (e->on[i] == SYNC_NOWHERE)
			return i;
	return SYNC_NOWHERE;
}

/* @thread may run from @time on. */
static void ready(struct sync_engine *e, uint32_t thread, double time)
{
	struct sync_member *t = &e->thread[thread];
	uint32_t core = free_core(e, t);

	t->ready = time;
	t->state = SYNC_READY;
	if (core == SYNC_NOWHERE)
		sync_list_add(e, &e->first, &e->last, thread);
	else
		run_on(e, thread, core);
}

void sync_make_ready(struct sync_engine *e, uint32_t thread, double time)
{
	struct sync_member *t = &e->thread[thread];
	double from = sync_later(time + e->wake, t->since);

	t->times.waited += from - t->since;
	ready(e, thread, from);
}

void sync_begin(struct sync_engine *e, uint32_t thread, double time)
{
	e->thread[thread].times.start = time;
	ready(e, thread, time);
}

void sync_stop(struct sync_engine *e, uint32_t thread, enum sync_state state,
	       double time)
{
	struct sync_member *t = &e->thread[thread];
	uint32_t core = t->core, next;

	t->state = state;
	t->since = t->times.end = time;
	t->core = SYNC_NOWHERE;
	e->on[core] = SYNC_NOWHERE;
	e->free_at[core] = time;
	if (e->hooks.stop)
		e->hooks.stop(e->hooks.data, thread, time);
	next = sync_list_take(e, &e->first);
	if (next != SYNC_NOWHERE)
		run_on(e, next, core);
}

void sync_go_on(struct sync_engine *e, uint32_t thread, double time,
		double from)
{
	if (from <= time)
		return;
	sync_stop(e, thread, SYNC_BLOCKED, time);
	sync_make_ready(e, thread, from);
}
