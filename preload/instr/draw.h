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
 * again: transfers that would not be without the stop. So the stop comes some
 * stores before the sampled one (DRAW_SOON), and at that one (DRAW_NOW) little
 * is left to do. Only where two classes of stores come so close, where the
 * period is short, and where callers are asked for does the sample itself stop.
 */
#ifndef COMDET_PRELOAD_INSTR_DRAW_H
#define COMDET_PRELOAD_INSTR_DRAW_H

#include "runtime/instr.h"

struct thread;

enum instr_drawn {
	DRAW_NONE,
	DRAW_STOP, /* the access is a sample */
	DRAW_SOON, /* a later access of its class will be one: DRAW_NOW */
	DRAW_NOW
};

/* Context: set-up. */
void instr_draw_init(void);

/* The first event of @t in the hooks @h: load their counters. */
void instr_draw_begin(struct thread *t, struct instr_thread *h);

/*
 * What is the access of @class that is an event of @h? Loads the counter for
 * the next event. Context: the hook.
 */
enum instr_drawn instr_draw(struct thread *t, struct instr_thread *h,
			    enum instr_class class);

#endif
