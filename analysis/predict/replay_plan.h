/* SPDX-License-Identifier: MIT */
/*
 * replay_plan - the epochs of a profile, in the form that replays read
 *
 * Threads may have millions of events, and each design replays them several
 * times. What does not depend on the design is found once: the place of an
 * event in its window, and which events are equal. A replay reads 16 bytes for
 * an event instead of a line of memory.
 */
#ifndef COMDET_ANALYSIS_PREDICT_REPLAY_PLAN_H
#define COMDET_ANALYSIS_PREDICT_REPLAY_PLAN_H

#include "workload.h"

/* An event, or the end of the thread. */
struct replay_step {
	double share;    /* of its window that is before it */
	uint32_t window; /* UINT32_MAX: the thread has none there */
	uint32_t event;  /* in the plan */
};

struct replay_event {
	struct sync_event event;
	bool free; /* it takes its thread no time */
};

struct replay_plan {
	struct replay_step **step; /* by thread, its events and its end */
	struct replay_event *event;
	size_t threads, events, room;
	/*
	 * Several threads wait for a lock, a semaphore or signals: what each
	 * gets depends on who comes first.
	 */
	bool contended;
};

/* @w need not outlive it. */
void replay_plan_init(struct replay_plan *p, const struct workload *w);
void replay_plan_release(struct replay_plan *p);

#endif
