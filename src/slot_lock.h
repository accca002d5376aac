/* SPDX-License-Identifier: MIT */
/*
 * slot_lock - the lock of a slot that threads and handlers of samples share
 *
 * The holder runs some hundreds of instructions that wait for nothing, and is
 * never the code that a call interrupted. It may have lost its processor.
 *
 * Context: any, handler included.
 */
#ifndef COMDET_SLOT_LOCK_H
#define COMDET_SLOT_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rawcall.h"

enum {
	SLOT_SPINS_BEFORE_YIELD = 100
};

/*
 * False if it was held at each of @spins looks; 0: wait without bound.
 *
 * (A) pairs with (B) in slot_unlock: the slot as the last holder left it.
 */
static inline bool slot_try_lock(_Atomic uint32_t *lock, uint32_t spins)
{
	for (uint32_t n = 1;
	     atomic_exchange_explicit(lock, 1, memory_order_acquire); n++) {
		if (spins && n >= spins)
			return false;
		if (n % SLOT_SPINS_BEFORE_YIELD == 0)
			rawcall1(SYS_sched_yield, 0);
		else
			__builtin_ia32_pause();
	}
	return true;
}

/* (B) pairs with (A) in slot_try_lock. */
static inline void slot_unlock(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

#endif
