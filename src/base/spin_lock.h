/* SPDX-License-Identifier: MIT */
/*
 * spin_lock - a lock that threads and handlers of samples share
 *
 * The holder runs at most some hundreds of instructions that wait for nothing,
 * and is never the code that a call interrupted. It may have lost its
 * processor.
 *
 * Context: any, handler included.
 */
#ifndef COMDET_BASE_SPIN_LOCK_H
#define COMDET_BASE_SPIN_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rawcall.h"

enum {
	SPINS_BEFORE_YIELD = 100
};

/*
 * False if it was held at each of @spins looks; 0: wait without bound.
 *
 * (A) pairs with (B) in spin_unlock: what it guards as the last holder left it.
 */
static inline bool spin_try_lock(_Atomic uint32_t *lock, uint32_t spins)
{
	for (uint32_t n = 1;
	     atomic_exchange_explicit(lock, 1, memory_order_acquire); n++) {
		if (spins && n >= spins)
			return false;
		if (n % SPINS_BEFORE_YIELD == 0)
			rawcall1(SYS_sched_yield, 0);
		else
			__builtin_ia32_pause();
	}
	return true;
}

static inline void spin_lock(_Atomic uint32_t *lock)
{
	spin_try_lock(lock, 0);
}

/* (B) pairs with (A) in spin_try_lock. */
static inline void spin_unlock(_Atomic uint32_t *lock)
{
	atomic_store_explicit(lock, 0, memory_order_release);
}

#endif
