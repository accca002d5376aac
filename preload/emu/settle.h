/* SPDX-License-Identifier: MIT */
/*
 * settle - wait until the thread that had the turn before sleeps
 *
 * A thread gives up its turn just before it enters the kernel to wait on a
 * futex. Until the kernel has put it to sleep, a store by the next thread could
 * keep it from sleeping: by chance, the call would return at once. So the next
 * thread waits for that. In the same way it waits until a thread that ends is
 * gone, because that one still holds locks of QEMU.
 */
#ifndef COMDET_PRELOAD_EMU_SETTLE_H
#define COMDET_PRELOAD_EMU_SETTLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Context: set-up. */
void emu_settle_init(void);

/*
 * Thread @index, which the kernel calls @tid, is going to sleep on the futex at
 * @futex, an address of this process; or to end, if @futex is 0. Context: the
 * thread itself, with the turn.
 */
void emu_settle_begin(unsigned int index, pid_t tid, uint64_t futex);

/* Thread @index is back from the kernel, if it was there at all. */
void emu_settle_back(unsigned int index);

/*
 * Wait for the thread that was named last. Returns false if it sleeps somewhere
 * else, for long. Context: the thread that has the turn.
 */
bool emu_settle_wait(void);

#endif
