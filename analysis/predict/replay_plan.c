/* SPDX-License-Identifier: MIT */
/*
 * replay_plan - the epochs of a profile, in the form that replays read
 */
#include <stdlib.h>
#include <string.h>

#include "number_table.h"
#include "replay_plan.h"
#include "analysis/base/util.h"
#include "analysis/model/sync_objects.h"

/* A window, and the instructions of those before it. */
struct place {
	const struct workload_thread *t;
	size_t window;
	uint64_t before;
};

/* Without the bytes between members. */
static uint64_t hash(const struct replay_event *e)
{
	const uint64_t all[] = {
		(uint64_t)e->event.kind << 2 | (uint64_t)e->event.timeout << 1 |
			e->free,
		e->event.object,
		e->event.argument,
		e->event.pair,
		e->event.where,
	};

	return number_hash_of(0, all, sizeof(all));
}

static uint64_t hash_of(const void *things, uint32_t i)
{
	return hash(&((const struct replay_plan *)things)->event[i]);
}

static bool is(const void *things, uint32_t i, const void *key)
{
	const struct replay_plan *p = things;
	const struct replay_event *a = &p->event[i], *b = key;

	return a->event.kind == b->event.kind &&
	       a->event.timeout == b->event.timeout &&
	       a->event.object == b->event.object &&
	       a->event.argument == b->event.argument &&
	       a->event.pair == b->event.pair &&
	       a->event.where == b->event.where && a->free == b->free;
}

static uint32_t number_of(struct replay_plan *p, struct number_table *table,
			  const struct replay_event *e)
{
	uint32_t i = number_table_find(table, p, hash(e), e);

	if (i != NUMBER_NONE)
		return i;
	p->event = grow(p->event, p->events, &p->room, sizeof(*p->event));
	p->event[p->events] = *e;
	number_table_add(table, p, (uint32_t)p->events);
	return (uint32_t)p->events++;
}

/* Instructions that are asked for never fall. */
static struct replay_step step_at(struct place *p, uint64_t instruction)
{
	const struct workload_thread *t = p->t;
	uint64_t all;

	while (p->window + 1 < t->windows &&
	       instruction - p->before >= t->window[p->window].instructions) {
		p->before += t->window[p->window].instructions;
		p->window++;
	}
	all = t->windows ? t->window[p->window].instructions : 0;
	if (!all)
		return (struct replay_step){ .window = UINT32_MAX };
	return (struct replay_step){
		.share = (double)(instruction - p->before) / (double)all,
		.window = (uint32_t)p->window,
	};
}

static struct replay_step *steps_of(struct replay_plan *p,
				    struct number_table *table,
				    const struct workload_thread *t)
{
	const struct replay_event end = { .event = { .kind = SYNC_EXIT },
					  .free = true };
	struct replay_step *step = xcalloc(t->events + 1, sizeof(*step));
	struct place place = { t, 0, 0 };

	for (size_t i = 0; i < t->events; i++) {
		const struct replay_event e = { t->event[i].event,
						t->event[i].outside };

		step[i] = step_at(&place, t->event[i].instruction);
		step[i].event = number_of(p, table, &e);
	}
	step[t->events] = step_at(&place, t->instructions);
	step[t->events].event = number_of(p, table, &end);
	return step;
}

/* A thread waits for an object, maybe; of a lock, semaphore or condition. */
struct wait {
	uint64_t object;
	enum sync_class class;
	size_t thread;
};

struct waits {
	struct wait *wait;
	size_t n, room;
};

static void add_wait(struct waits *w, size_t thread, enum sync_class class,
		     uint64_t object)
{
	w->wait = grow(w->wait, w->n, &w->room, sizeof(*w->wait));
	w->wait[w->n++] = (struct wait){ object, class, thread };
}

static void add_waits(struct waits *w, size_t thread,
		      const struct sync_event *e)
{
	switch (e->kind) {
	case SYNC_LOCK:
	case SYNC_READ_LOCK:
		add_wait(w, thread, SYNC_CLASS_LOCK, e->object);
		break;
	case SYNC_COND_WAIT:
		if (e->argument)
			add_wait(w, thread, SYNC_CLASS_LOCK, e->argument);
		if (!e->pair)
			add_wait(w, thread, SYNC_CLASS_COND, e->object);
		break;
	case SYNC_SEM_WAIT:
		add_wait(w, thread, SYNC_CLASS_SEM, e->object);
		break;
	default:
		break;
	}
}

static int by_object(const void *x, const void *y)
{
	const struct wait *a = x, *b = y;

	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return order_u64(a->object, b->object);
}

static bool is_contended(const struct replay_plan *p, const struct workload *w)
{
	struct waits waits = { 0 };
	/* By event: the number of the latest thread that came to it, + 1. */
	uint32_t *seen = xcalloc(p->events + 1, sizeof(*seen));
	bool contended = false;

	for (uint32_t t = 0; t < p->threads; t++)
		for (size_t i = 0; i < w->thread[t].events; i++) {
			uint32_t e = p->step[t][i].event;

			if (seen[e] != t + 1)
				add_waits(&waits, t, &p->event[e].event);
			seen[e] = t + 1;
		}
	if (waits.n)
		qsort(waits.wait, waits.n, sizeof(*waits.wait), by_object);
	for (size_t i = 1; i < waits.n && !contended; i++)
		contended = !by_object(&waits.wait[i - 1], &waits.wait[i]) &&
			    waits.wait[i - 1].thread != waits.wait[i].thread;
	free(waits.wait);
	free(seen);
	return contended;
}

void replay_plan_init(struct replay_plan *p, const struct workload *w)
{
	struct number_table table = { .hash = hash_of, .is = is };

	memset(p, 0, sizeof(*p));
	p->threads = w->threads;
	p->step = xcalloc(p->threads + 1, sizeof(struct replay_step *));
	for (size_t i = 0; i < p->threads; i++)
		p->step[i] = steps_of(p, &table, &w->thread[i]);
	number_table_release(&table);
	p->contended = is_contended(p, w);
}

void replay_plan_release(struct replay_plan *p)
{
	free(p->event);
	while (p->threads)
		free(p->step[--p->threads]);
	free(p->step);
	*p = (struct replay_plan){ 0 };
}
