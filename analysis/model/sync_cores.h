/* SPDX-License-Identifier: MIT */
/*
 * sync_cores - which threads run on which cores: the lower half of sync_engine
 */
#ifndef COMDET_ANALYSIS_MODEL_SYNC_CORES_H
#define COMDET_ANALYSIS_MODEL_SYNC_CORES_H

#include "sync_engine.h"
#include "sync_objects.h"

struct sync_member {
	enum sync_state state;
	uint32_t name, core, last_core;
	uint32_t next;            /* of those that wait for the same */
	struct sync_event event;  /* the latest */
	struct sync_object *lock; /* waits for this one */
	bool reads;               /* as a reader */
	double asked;             /* for the lock */
	double since;             /* stopped */
	double ready;             /* may run from then on */
	struct sync_times times;
};

struct sync_engine {
	struct sync_member *thread;
	uint32_t threads, cores;
	double wake;
	struct sync_hooks hooks;
	uint32_t *on;         /* by core: the thread, or SYNC_NOWHERE */
	double *free_at;      /* by core */
	uint32_t first, last; /* threads that are ready */
	struct sync_objects objects;
	double *pair; /* by number: when it came, plus 1; 0: not yet */
	size_t pairs;
};

static inline double sync_later(double a, double b)
{
	return a > b ? a : b;
}

/* Put @thread behind those of the list. */
void sync_list_add(struct sync_engine *e, uint32_t *first, uint32_t *last,
		   uint32_t thread);
/* Take the first of the list; SYNC_NOWHERE if there is none. */
uint32_t sync_list_take(struct sync_engine *e, uint32_t *first);

/* @thread, which was absent, is there from @time on. */
void sync_begin(struct sync_engine *e, uint32_t thread, double time);

/* What @thread waited for happened at @time. */
void sync_make_ready(struct sync_engine *e, uint32_t thread, double time);

/* The running @thread leaves its core at @time. */
void sync_stop(struct sync_engine *e, uint32_t thread, enum sync_state state,
	       double time);

/* @thread, whose event came at @time, goes on at @from, or at once. */
void sync_go_on(struct sync_engine *e, uint32_t thread, double time,
		double from);

#endif
