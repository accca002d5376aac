/* SPDX-License-Identifier: MIT */
/*
 * spin_lock - a lock that threads and handlers of samples share
 *
 * A wait ends because whoever holds the lock
 *
 * - has all signals blocked, or runs where no handler of ours can come, so
 *   that nothing on its own thread can ask for the lock meanwhile;
 * - executes a bounded number of instructions, makes no system call, calls no
 *   function of the caller's and takes no second lock;
 *
 * and because a waiter soon gives up its processor: after some looks to any
 * thread of its priority (sched_yield), then to all (a short sleep). A holder
 * that lost its processor to a waiter of higher priority needs the second.
 *
 * docs/memory-model.md, "Who waits, and why it ends", lists the locks and says
 * which of them bend these rules.
 *
 * Context: any, handler included.
 */
#ifndef COMDET_BASE_SPIN_LOCK_H
#define COMDET_BASE_SPIN_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
	SPINS_BEFORE_YIELD = 100
};

/* Give up the processor: the @n-th time in this wait, from 1 on. */
void spin_give_way(uint32_t n);

/* Call after the @n-th look, from 1 on, at what another thread is to change. */
static inline void spin_wait(uint32_t n)
{
	if (n % SPINS_BEFORE_YIELD)
		__builtin_ia32_pause();
	else
		spin_give_way(n / SPINS_BEFORE_YIELD);
}

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
		spin_wait(n);
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
