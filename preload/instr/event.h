/* SPDX-License-Identifier: MIT */
/*
 * event - the hooks report an access: a counter ran out or a line is watched
 */
#ifndef COMDET_PRELOAD_INSTR_EVENT_H
#define COMDET_PRELOAD_INSTR_EVENT_H

#include <stdint.h>

#include "runtime/instr.h"
#include "src/base/access.h"

struct cpu_state;
struct thread;
struct watch_signal;

enum {
	INSTR_JITTER_SHARE = 8 /* intervals vary by 1/8 of the period */
};

/* Context: set-up. */
void instr_events_init(void);

/* The hooks call it for each event. Context: the program's code. */
instr_listener instr_listen;

/* Accesses of all threads, the time of runtime.comm. Any context. */
uint64_t instr_ticks(void);

/* Make the calling thread's next access of each class an event. */
void instr_expect(struct instr_thread *h);

/*
 * If @a was made by an atomic hook, attribute it to the program's call of that
 * hook.
 */
void instr_attribute(struct access *a);

/* In a forked child: drop the parent's counts from @h. */
void instr_forget(struct instr_thread *h);

/* Register @t, the calling thread, with the engines, at its first event. */
void instr_begin(struct thread *t);

/* Move the counts of @t, the calling thread, from the hooks to its row. */
void instr_flush(struct thread *t);

/* Accesses of @t, the calling thread, up to now. */
uint64_t instr_accesses(const struct thread *t);

/*
 * After the hooks were told to stop: wait, at most 20 ms, for threads that are
 * still in an event.
 */
void instr_drain(void);

/*
 * Handle the trap of a register that watches in all threads. Context: handler.
 */
void instr_trap(struct thread *t, const struct watch_signal *what,
		const struct cpu_state *cpu);

#endif
