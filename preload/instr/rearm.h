/* SPDX-License-Identifier: MIT */
/*
 * rearm - each thread sets its own debug registers when another asks it to
 *
 * Context: handler, except where another is named.
 */
#ifndef COMDET_PRELOAD_INSTR_REARM_H
#define COMDET_PRELOAD_INSTR_REARM_H

#include <stdbool.h>

#include "state.h"
#include "src/base/access.h"

struct cpu_state;

/* Context: set-up. */
void instr_rearm_init(void);

/*
 * Make the hooks @h of the calling thread find their table through the word in
 * @copy.
 */
void instr_rearm_begin(struct thread *t, struct instr_copy *copy,
		       struct instr_thread *h);

/*
 * Point the calling thread's hooks of @l to the table of their library again.
 * Any context.
 */
void instr_rearm_end(struct instr_library *l);

/*
 * Ask @t, which has begun, to set its registers: its next access is an event.
 * The caller is @t, or holds the lock of count.c.
 */
void instr_rearm_request(struct thread *t);

/* True if the calling thread has a request to fulfil. Any context. */
bool instr_rearm_is_due(const struct thread *t);

/* Set the registers of the calling thread as the slots say. */
void instr_rearm_update(struct thread *t);

/* Switch register @reg of the calling thread off. */
void instr_rearm_off(struct thread *t, int reg);

/*
 * The access at which a register of the calling thread trapped, as far as the
 * processor and the code tell. The register watches @s.
 */
struct access instr_rearm_access(struct thread *t, const struct instr_slot *s,
				 const struct cpu_state *cpu);

#endif
