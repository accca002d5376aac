/* SPDX-License-Identifier: MIT */
/*
 * calls - what the program's system calls mean for the order of its threads
 *
 * A call that returns at once takes no time on the simulated machine: its
 * thread keeps the turn. A thread that waits on a futex comes back when another
 * thread wakes it. A thread that sleeps for a time comes back when this time is
 * over on the simulated machine. Whoever waits for anything else (another
 * process, a device, a signal) comes back when the host says so.
 */
#ifndef COMDET_PRELOAD_EMU_CALLS_H
#define COMDET_PRELOAD_EMU_CALLS_H

#include "state.h"

enum {
	EMU_CALL_ARGS = 6
};

/* Context: set-up. */
void emu_calls_init(void);

/* @v is a new thread. Context: the thread that creates it, or set-up. */
void emu_calls_create(struct vcpu *v);
/* The thread begins and has returned from a system call. */
void emu_calls_begin(struct vcpu *v, int64_t number,
		     const uint64_t arg[EMU_CALL_ARGS]);
void emu_calls_return(struct vcpu *v, int64_t number, int64_t result);
/* The thread ends. */
void emu_calls_exit(struct vcpu *v);

#endif
