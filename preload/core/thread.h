/* SPDX-License-Identifier: MIT */
/*
 * thread - what the library keeps of each thread of the program
 *
 * A struct thread belongs to its thread: only that thread and its handler
 * touch it. threads/threads.h makes them.
 */
#ifndef COMDET_PRELOAD_CORE_THREAD_H
#define COMDET_PRELOAD_CORE_THREAD_H

#include "budget.h"
#include "runtime.h"
#include "src/base/rng.h"
#include "src/store/call_table.h"
#include "src/store/core_table.h"
#include "src/store/pair_table.h"
#include "src/store/time_slices.h"
#include "src/x86/choose.h"

struct last_walk;    /* src/unwind/last_walk.h */
struct lease;        /* watch/watch.c: four debug registers of one thread */
struct thread_reuse; /* sources/thread_reuse.c */

struct thread {
	struct cdp_thread *record; /* in the file */
	struct comm_thread comm;
	struct choose choose;
	struct last_walk *walk; /* of its stack; it outlives the thread */
	struct pair_table pairs;
	struct core_table cores;
	struct call_table calls;
	struct slice_table slices;
	struct rng rng;
	void *source; /* what the source keeps: source_ops.thread_bytes */
	struct lease *lease;
	struct thread_reuse *reuse; /* NULL unless -m reuse */
	void *(*start)(void *);
	/* Of the program, while a sample or a trap is handled; else NULL. */
	const struct cpu_state *cpu;
	uint64_t clock_at;  /* CLOCK_MONOTONIC when the handler began, ns */
	uint64_t cpu_at;    /* CPU time in this handler: handler_cpu_at */
	uint64_t armed_cpu; /* CPU time when comm armed, ns */
	uint64_t exec_ip; /* address of the armed execution breakpoint, 0: none
			   */
	uint64_t late_ip; /* where the last trap came with its signal blocked */
	struct budget budget;
	uint64_t samples_seen;
	pid_t tid;
	uint32_t core;
	bool in_handler;
	bool cpu_known; /* cpu_at is of this handler */
	bool ending;
	bool adopted;        /* no hook saw it begin, and none sees its end */
	bool registers_lost; /* another thread took them; not noticed yet */
	/* Pages that only sampled threads touch. */
	char *stack_top;
};

/* The calling thread's; NULL before it has one and after its end. Any. */
struct thread *thread_self(void);
/* True between the end of a thread's record and a new one. Any context. */
bool thread_has_ended(void);
/* Make @t the calling thread's, NULL: none. Any context. */
void thread_set_self(struct thread *t);
void thread_set_ended(bool ended);

/*
 * A raw clone without CLONE_SETTLS shares its creator's thread-local storage,
 * so both threads see one struct thread. A thread may also run on the stack of
 * one that has ended unseen, whose struct may be unmapped or another's by now.
 * True if thread_self() belongs to another thread: do not look at it. Any
 * context, one system call.
 */
bool thread_is_another(void);

/*
 * True if the thread that thread_self() belonged to exists no longer: the
 * calling thread then runs on its stack. Any context, one system call.
 */
bool thread_is_dead(void);

/* The thread that thread_self() belongs to. Any context. */
pid_t thread_self_tid(void);

/* Count a loss for thread @t, or for the process (NULL). Any context. */
void count_loss(struct thread *t, enum loss_cause cause);

#endif
