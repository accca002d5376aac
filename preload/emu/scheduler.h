/* SPDX-License-Identifier: MIT */
/*
 * scheduler - the simulated machine: threads take turns in a fixed order
 *
 * Every function but emu_scheduler_init runs on one of the program's threads.
 * With slice=free there are no turns, and nothing here waits.
 */
#ifndef COMDET_PRELOAD_EMU_SCHEDULER_H
#define COMDET_PRELOAD_EMU_SCHEDULER_H

#include "quick.h"
#include "state.h"

/* What became of the order; the file's header has the same. */
struct emu_scheduler_counts {
	uint64_t shared;    /* turns used up while another thread could run */
	uint64_t by_time;   /* turns that another thread took, see
			       scheduler.c */
	uint64_t unordered; /* threads that came back from the kernel when the
			       host said so, while others ran */
};

/* Context: set-up. */
void emu_scheduler_init(void);

/* @v is a new thread: it runs after those that wait. Context: its creator. */
void emu_scheduler_create(struct vcpu *v);
/* The system could not make the thread after all. Context: its creator. */
void emu_scheduler_forget(struct vcpu *v);
/* The thread has begun to run. */
void emu_scheduler_begin(struct vcpu *v);
/* The turn is used up: let the others run first. */
void emu_scheduler_end(struct vcpu *v);
/*
 * Threads pass a line to each other. In a quick trace turns are longer while
 * that does not happen.
 */
void emu_scheduler_contended(void);
/* The same in a system call. */
void emu_scheduler_yield(struct vcpu *v);
/* The thread begins a system call: it needs a turn. */
void emu_scheduler_call(struct vcpu *v);
/* The thread ends. */
void emu_scheduler_exit(struct vcpu *v);

/*
 * The thread is about to wait in the kernel, so the next one runs. Unless
 * @futex is 0, that one first waits until the kernel has put this one to sleep
 * on the futex at @futex, an address of this process.
 */
void emu_scheduler_leave(struct vcpu *v, uint64_t futex);
/*
 * The same for a thread that sleeps for @accesses of the simulated machine.
 */
void emu_scheduler_sleep(struct vcpu *v, uint64_t accesses);
/*
 * A thread that left may run again: it comes after those that wait. @ordered:
 * the program's own order brought it back, not the host's time. Context: any.
 */
void emu_scheduler_place(struct vcpu *v, bool ordered);
/*
 * The thread is back from the kernel: wait for its turn. A thread that left
 * and was not placed, nor sleeps, waits until another thread places it.
 */
void emu_scheduler_return(struct vcpu *v);

/*
 * At the end of the program: from here on no thread takes a turn, so that the
 * results can be written. Returns false if a thread may run without a turn.
 */
bool emu_scheduler_freeze(struct vcpu *v);
/*
 * The results have been written. If QEMU needs the other threads in order to
 * end, they run at once, and take turns no more.
 */
void emu_scheduler_release(void);

struct emu_scheduler_counts emu_scheduler_counts(void);

/*
 * The time that the engines see: accesses of all threads. It is exact while
 * threads take turns. Otherwise it lags by up to EMU_TURN_LOOK accesses of each
 * thread.
 */
uint64_t emu_scheduler_ticks(const struct vcpu *v);
/* The same for the threads that share the cache of @v, and for a cache. */
uint64_t emu_scheduler_domain_ticks(const struct vcpu *v);
uint64_t emu_scheduler_ticks_of_domain(uint32_t domain);
/* Add the thread's accesses since the last call to that time. */
void emu_scheduler_tell_time(struct vcpu *v);

/*
 * From now on the thread's turn has @accesses left. Parts of an access that its
 * instructions took stay taken.
 */
static inline void emu_scheduler_set_turn(struct vcpu *v, int64_t accesses)
{
	emu_quick_settle(v);
	v->turn_start = accesses * EMU_TURN_ACCESS + EMU_TURN_ACCESS - 1;
	v->turn =
		accesses * EMU_TURN_ACCESS + (v->turn & (EMU_TURN_ACCESS - 1));
}

/*
 * Whole accesses that the turn has had since that time was told; in a quick
 * part it is to be settled before.
 */
static inline int64_t emu_scheduler_spent(const struct vcpu *v)
{
	return (v->turn_start - v->turn) / EMU_TURN_ACCESS;
}

#endif
