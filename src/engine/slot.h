/* SPDX-License-Identifier: MIT */
/*
 * slot - a place to watch, shared by all threads: the protocol of its watch
 *
 * An estimator has a few slots; each holds one sample and what is watched for
 * it. Threads change what a slot is to watch under its lock. Changing the watch
 * itself (debug registers, a table) may take long, so that happens outside the
 * lock, by one thread at a time, the programmer:
 *
 *	lock
 *	what is to be watched, slot_change()
 *	slot_begin_turn(): false: another thread is the programmer and will see
 *	                   the change; true: this thread is, and @turn tells it
 *	                   whether to arm or to disarm
 *	unlock
 *	arm or disarm
 *	slot_check_turn(), which takes the lock:
 *	  SLOT_AGAIN       the slot has changed meanwhile: unlock, once more
 *	  SLOT_DONE        the watch is as the slot wants it
 *	  SLOT_FAILED      arming failed, or the slot changed too often
 *	slot_end_turn(), which gives the lock back
 *
 * Each change raises the generation. A trap carries the generation with which
 * its watch was armed, so a trap of an earlier use of the slot is recognized
 * (slot_lock_armed).
 *
 * With one exception (transfer_met) the lock is not held while a watch is
 * changed or a function of the caller runs. docs/memory-model.md proves that
 * waiting for it ends. Context: any, handler included, if no handler interrupts
 * a holder on its own thread.
 */
#ifndef COMDET_ENGINE_SLOT_H
#define COMDET_ENGINE_SLOT_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/base/spin_lock.h"

enum {
	SLOT_FREE, /* the state of a slot that watches nothing; 1, ... are the
		      estimator's */
	SLOT_ROUNDS_MAX = 16, /* of a turn */
};

struct slot {
	_Atomic uint32_t lock;
	_Atomic uint32_t generation; /* changed under the lock */
	_Atomic uint32_t state; /* SLOT_FREE or the estimator's; likewise */
	bool programming;       /* under the lock: there is a programmer */
};

/* One change of the watch, as the programmer sees it. */
struct slot_turn {
	uint32_t generation; /* generation that is being armed */
	uint32_t rounds;
	bool arm; /* else disarm */
};

enum slot_progress {
	SLOT_AGAIN,
	SLOT_DONE,
	SLOT_FAILED
};

/* Only a hint, unless the caller has the lock. */
static inline uint32_t slot_generation(const struct slot *s)
{
	return atomic_load_explicit(&s->generation, memory_order_relaxed);
}

/* Only a hint, unless the caller has the lock. */
static inline uint32_t slot_state(const struct slot *s)
{
	return atomic_load_explicit(&s->state, memory_order_relaxed);
}

/* With the lock: a new state of the same use; the watch stays as it is. */
static inline void slot_set_state(struct slot *s, uint32_t state)
{
	atomic_store_explicit(&s->state, state, memory_order_relaxed);
}

/* With the lock: traps of what was armed before are stale from here on. */
static inline void slot_change(struct slot *s, uint32_t state)
{
	atomic_store_explicit(&s->generation, slot_generation(s) + 1,
			      memory_order_relaxed);
	slot_set_state(s, state);
}

/* Take the lock of @s if it is free at the first look. */
static inline bool slot_lock_if_free(struct slot *s)
{
	if (slot_state(s) != SLOT_FREE || !spin_try_lock(&s->lock, 1))
		return false;
	if (slot_state(s) == SLOT_FREE)
		return true;
	spin_unlock(&s->lock);
	return false;
}

/*
 * Take the lock of @s for what it watches as @generation, in @spins tries (0:
 * wait). Returns 0, -ESTALE if it does not watch that any more, or -EBUSY; then
 * without the lock.
 */
static inline int slot_lock_armed(struct slot *s, uint32_t generation,
				  uint32_t spins)
{
	if (slot_generation(s) != generation)
		return -ESTALE;
	if (!spin_try_lock(&s->lock, spins))
		return -EBUSY;
	if (slot_generation(s) == generation && slot_state(s) != SLOT_FREE)
		return 0;
	spin_unlock(&s->lock);
	return -ESTALE;
}

/* With the lock: what the slot wants of its watch now. */
static inline void slot_look(const struct slot *s, struct slot_turn *turn)
{
	turn->generation = slot_generation(s);
	turn->arm = slot_state(s) != SLOT_FREE;
}

/* With the lock. See above. */
static inline bool slot_begin_turn(struct slot *s, struct slot_turn *turn)
{
	if (s->programming)
		return false;
	s->programming = true;
	turn->rounds = 0;
	slot_look(s, turn);
	return true;
}

/* Without the lock; returns with it. @err is what arming returned, or 0. */
static inline enum slot_progress slot_check_turn(struct slot *s,
						 struct slot_turn *turn,
						 int err)
{
	bool changed;

	/* Nobody else may undo s->programming, so this wait has no bound. */
	spin_lock(&s->lock);
	changed = slot_generation(s) != turn->generation;
	if (changed && turn->rounds++ < SLOT_ROUNDS_MAX) {
		slot_look(s, turn);
		return SLOT_AGAIN;
	}
	return changed || err ? SLOT_FAILED : SLOT_DONE;
}

/* With the lock; returns without it. */
static inline void slot_end_turn(struct slot *s)
{
	s->programming = false;
	spin_unlock(&s->lock);
}

#endif
