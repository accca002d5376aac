/* SPDX-License-Identifier: MIT */
/*
 * draw - which accesses are samples
 *
 * Of loads, one in every period is the sample, at a random place in it, so that
 * no loop keeps step with it. A sample stops its thread, and others then touch
 * what the thread stored last. So that these transfers are in the estimate as
 * often as others, stores are drawn at random distances: a store just before a
 * stop is then a sample as often as any.
 *
 * A thread that was stopped takes its lines back from others, who want them
 * again: transfers that would not be without the stop. So the stop comes before
 * the sampled store (DRAW_SOON), and at that one (DRAW_NOW) little is left to
 * do. Only at a thread's first sample, and where callers are asked for, the
 * sample may itself stop.
 *
 * How long before is random, four tenths of the period in the mean. If it were
 * always some stores, the first stores after a wait would be samples too often: a
 * thread that waits for another one is as likely to be in a stop when the wait
 * ends as it spends time in stops, and those stores are what comes next. Four
 * tenths of the time a sample is about to come anyway, so that matters little.
 *
 * A thread also loses its processor in a stop, and others then take the lines
 * that it stored to last. So the store before a stop is a sample as often as any.
 */
#ifndef COMDET_PRELOAD_INSTR_DRAW_H
#define COMDET_PRELOAD_INSTR_DRAW_H

#include "runtime/instr.h"

struct thread;

enum instr_drawn {
	DRAW_NONE,
	DRAW_STOP, /* the access is a sample */
	DRAW_SOON, /* a later store will be one: DRAW_NOW */
	DRAW_NOW
};

/* Context: set-up. */
void instr_draw_init(void);

/* The first event of @t. */
void instr_draw_start(struct thread *t);

/* The first event of @t in the hooks @h: load their counters. */
void instr_draw_begin(struct thread *t, struct instr_thread *h);

/*
 * What is the access of @class that is an event of @h? Loads the counter for
 * the next event. Context: the hook.
 */
enum instr_drawn instr_draw(struct thread *t, struct instr_thread *h,
			    enum instr_class class);

#endif
