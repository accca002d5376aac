/* SPDX-License-Identifier: MIT */
/*
 * callers - the calls that led to the accesses of detections (record -g)
 *
 * The path of each sampled access is found by src/unwind and becomes a number
 * (src/store/path_table.h), which the engine passes on beside the access.
 * Detections are then also counted by the paths of both accesses.
 *
 * An access that the interpreter chose lies ahead of the interrupt, perhaps in
 * another function. Its window is then interpreted again up to it, and the walk
 * begins with the registers and the stack that the thread has there.
 *
 * Context: handler of the thread, on the handler's stack, unless a function
 * says otherwise. Without -g these functions return at once.
 */
#ifndef COMDET_PRELOAD_SOURCES_CALLERS_H
#define COMDET_PRELOAD_SOURCES_CALLERS_H

#include "preload/core/thread.h"

/*
 * Begin anew, if call paths are asked for. Returns 0 or -ENOMEM. Context:
 * set-up, in a child that fork made too.
 */
int callers_init(void);

/*
 * The access of @c, which was chosen at t->cpu, is handed to the engine next.
 */
void callers_of_choice(struct thread *t, const struct choice *c);

/* The same for access @a, just made by the thread, now at t->cpu. NULL: the
 * access is not known. */
void callers_of_trap(struct thread *t, const struct access *a);

/*
 * The same for access @a, which a hardware event sampled before the interrupt
 * at @cpu.
 */
void callers_of_sample(struct thread *t, const struct cpu_state *cpu,
		       const struct access *a);

/*
 * The same for an access at @ip that a hook reports, a call at @ip. The thread
 * is in that hook, with the registers @cpu.
 */
void callers_of_hook(struct thread *t, const struct cpu_state *cpu,
		     uint64_t ip);

/*
 * The number of the path of @n calls with these return addresses, innermost
 * first; 0: none.
 */
uint32_t callers_of_block(const uint64_t *address, unsigned n);

/* Count detection @d by its paths. */
void callers_detected(struct thread *t, const struct detection *d);

#endif
