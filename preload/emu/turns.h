/* SPDX-License-Identifier: MIT */
/*
 * turns - who has the turn, and who has the next
 *
 * Part of the scheduler (scheduler.h).
 */
#ifndef COMDET_PRELOAD_EMU_TURNS_H
#define COMDET_PRELOAD_EMU_TURNS_H

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scheduler.h"
#include "state.h"

enum {
	EMU_NOBODY = -1,
};

/* What a thread does: vcpu.wait, a futex. */
enum emu_wait {
	EMU_RUNNING,
	EMU_WAITING,
	EMU_WATCHING, /* waiting, and the watcher */
	EMU_DRAINING
};

/* vcpu.place */
enum emu_place {
	EMU_PLACE_AWAY, /* in the kernel, or not yet begun */
	EMU_PLACE_QUEUED,
	EMU_PLACE_RUNS, /* it has the turn, or had it taken away */
	EMU_PLACE_SLEEPS
};

struct emu_turns {
	pthread_mutex_t lock;
	int holder;
	int robbed;           /* whose turn was taken; it is next */
	int watcher;          /* EMU_NOBODY if nobody waits */
	unsigned int turns;   /* how many have begun */
	_Atomic unsigned int contended; /* in which threads passed a line */
	uint64_t drained_for; /* the futex on which the holder waits for those
				 that drain */
	uint64_t idle;        /* accesses for which all threads slept */
	bool frozen;          /* the results are being written, or have been */
	bool written;
	_Atomic bool released;              /* turns are over */
	struct emu_scheduler_counts counts; /* but for by_time */
	_Atomic uint64_t by_time;
	/*
	 * Threads that write to a pipe, and wait until somebody reads it. They
	 * keep their turn, so that the trace is that of a file.
	 */
	_Atomic uint32_t writing;
};

extern struct emu_turns emu_turns;

static inline bool emu_turns_taken(void)
{
	return emu.config.slice != EMU_SLICE_FREE &&
	       !atomic_load_explicit(&emu_turns.released, memory_order_relaxed);
}

static inline unsigned int emu_turns_index(const struct vcpu *v)
{
	return v - emu.vcpu;
}

static inline void emu_turns_set(struct vcpu *v, enum emu_wait as)
{
	/* (T) pairs with (U). */
	atomic_store_explicit(&v->wait, as, memory_order_release);
}

static inline void emu_turns_nudge(struct vcpu *v)
{
	syscall(SYS_futex, &v->wait, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* The following are called with the lock held. */

/* The simulated machine's time, in accesses. */
uint64_t emu_turns_time(void);

/* The thread may run after those that wait. */
void emu_turns_append(unsigned int index);

/* Queue the threads whose sleep is over. */
void emu_turns_end_sleeps(void);

/*
 * Let the next thread run, if there is one, and return it: pass it to
 * emu_turns_wake without the lock. @self is the calling thread, if it is going
 * to wait; else EMU_NOBODY.
 */
struct vcpu *emu_turns_next(int self);

/*
 * Wake the thread; @v may be NULL. Without the lock, because a thread that is
 * woken may run at once, instead of this one.
 */
void emu_turns_wake(struct vcpu *v);

/*
 * If nobody watches, or the watcher has the turn, promote the last in the queue
 * that can.
 */
void emu_turns_watch_on(int self);

#endif
