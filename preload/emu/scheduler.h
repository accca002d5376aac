/* SPDX-License-Identifier: MIT */
/*
 * scheduler - threads take turns, so that many share few cores finely
 */
#ifndef COMDET_PRELOAD_EMU_SCHEDULER_H
#define COMDET_PRELOAD_EMU_SCHEDULER_H

#include "state.h"

/* Context: set-up. */
void emu_scheduler_init(void);

/* The thread may run from here on. */
void emu_scheduler_enter(struct vcpu *v);
/* The thread may block from here on. */
void emu_scheduler_leave(struct vcpu *v);
/* The turn is used up: let the others run first. */
void emu_scheduler_end(struct vcpu *v);

/*
 * The time that the engines see: accesses of all threads. It is exact while
 * threads take turns. Otherwise it lags by up to EMU_TURN_LOOK accesses of each
 * thread.
 */
uint64_t emu_scheduler_ticks(const struct vcpu *v);
/* The same for the threads that share the cache of @v, and for a cache. */
uint64_t emu_scheduler_domain_ticks(const struct vcpu *v);
uint64_t emu_scheduler_ticks_of_domain(uint32_t domain);

#endif
