/* SPDX-License-Identifier: MIT */
/*
 * regpool - debug registers that each thread sets for itself
 *
 * Context: handler, except where another is named.
 */
#ifndef COMDET_PRELOAD_INSTR_REGPOOL_H
#define COMDET_PRELOAD_INSTR_REGPOOL_H

#include <stdbool.h>

#include "src/engine/comm.h"

struct thread;

/* Context: set-up. */
void instr_regpool_init(void);

/* True if @t has registers, or could take some. */
bool instr_regpool_take(struct thread *t);

/*
 * Make register @reg of @t trap at accesses to @w, or at stores only. The
 * thread must have registers. Returns 0 or -errno.
 */
int instr_regpool_set(struct thread *t, int reg, const struct watch_range *w,
		      bool stores_only);

/* Switch register @reg of @t off. */
void instr_regpool_off(struct thread *t, int reg);

/* Give the registers of @t, if it has some, back to the pool. */
void instr_regpool_release(struct thread *t);

/* Close the registers of all threads. Any context. */
void instr_regpool_close_all(void);

#endif
