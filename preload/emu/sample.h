/* SPDX-License-Identifier: MIT */
/*
 * sample - a simulated PMU and simulated debug registers
 */
#ifndef COMDET_PRELOAD_EMU_SAMPLE_H
#define COMDET_PRELOAD_EMU_SAMPLE_H

#include "state.h"

/* Returns 0 or -errno. Context: set-up. */
int emu_sample_init(void);

/* The thread of @v is about to begin. */
void emu_sample_start(struct vcpu *v);

/*
 * A counter overflowed, the turn of @v is over, or the access of @class at
 * @addr, made by the instruction at @ip, may be watched.
 */
void emu_sample_event(struct vcpu *v, unsigned int class, uint64_t addr,
		      uint64_t ip);

/*
 * Thread @v made part @a, of @class, of the access v->parts. Counts it, and
 * does what emu_sample_event does if there is something to do.
 */
void emu_sample_part(struct vcpu *v, unsigned int class, const struct access *a,
		     bool first);

#endif
