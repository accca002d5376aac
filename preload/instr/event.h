/* SPDX-License-Identifier: MIT */
/*
 * event - the hooks report an access: a counter ran out or a line is watched
 */
#ifndef COMDET_PRELOAD_INSTR_EVENT_H
#define COMDET_PRELOAD_INSTR_EVENT_H

#include "runtime/instr.h"

struct cpu_state;
struct thread;
struct watch_signal;

/* Context: set-up. */
void instr_event_init(void);

/* Make the hooks of @l report events to us. Context: set-up, loader. */
void instr_event_connect(struct instr_library *l);

/* Stop that; events that have begun go on. Any context. */
void instr_event_disconnect(struct instr_library *l);

/*
 * After all hooks were disconnected: wait, at most 20 ms, for threads that are
 * still in an event. Any context.
 */
void instr_event_drain(void);

/*
 * Handle the trap of a register that watches in all threads. Context: handler.
 */
void instr_trap(struct thread *t, const struct watch_signal *what,
		const struct cpu_state *cpu);

#endif
