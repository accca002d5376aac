/* SPDX-License-Identifier: MIT */
/*
 * futexes - which futex call of a thread let which other one go on
 *
 * For what the library in the guest does not see: static programs, Go, and
 * libraries that call the kernel themselves. The kernel wakes those first that
 * came first.
 */
#ifndef COMDET_PRELOAD_EMU_FUTEXES_H
#define COMDET_PRELOAD_EMU_FUTEXES_H

#include "state.h"

/*
 * Thread @v calls the kernel, and is back. Context: its system call. The waker
 * tells this before the woken ones go on.
 */
void emu_futexes_begin(struct vcpu *v, int64_t number, const uint64_t arg[6]);
void emu_futexes_return(struct vcpu *v, int64_t number, int64_t result);

/* It ends, which wakes those that wait for that. */
void emu_futexes_end(struct vcpu *v);

void emu_futexes_forget(void);

#endif
