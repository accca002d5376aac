/* SPDX-License-Identifier: MIT */
/*
 * tasks - the watched threads and processes, by the kernel's numbers
 *
 * The kernel gives the number of a thread that has ended to another one. Here a
 * thread that ends leaves the table, so its number belongs to at most one. A
 * process that executes a program becomes another process, with the same pid
 * and a new address space.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_TASKS_H
#define COMDET_ANALYSIS_OUTSIDE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "file.h"
#include "record.h"
#include "registers.h"
#include "space.h"
#include "src/engine/comm.h"
#include "src/store/call_table.h"
#include "src/store/core_table.h"
#include "src/store/pair_table.h"
#include "src/store/time_slices.h"
#include "src/x86/choose.h"

struct sampler;
struct process_callers;

struct task_process {
	struct task_process *next; /* in the list of all live ones */
	pid_t pid;
	uint32_t number;       /* among those watched, from 1 on */
	uint64_t start;        /* field 22 of /proc/PID/stat */
	uint32_t threads;      /* live ones that are known */
	uint64_t ended_cpu_ns; /* of threads that have ended */
	int pidfd;             /* asked after its end, -1: none */
	bool file_failed;
	bool executed; /* it came out of an exec that we saw */
	/*
	 * CPU time of the last seconds, and what of it was that of short
	 * threads that its threads made; see makers.h.
	 */
	uint64_t cpu_lately, short_lately;
	uint64_t no_fine_until; /* CLOCK_MONOTONIC ns */
	struct space space;
	struct outside_file file;
	struct process_callers *callers; /* callers.h */
};

/* What stays as it is when the thread executes a program. */
struct task_clock {
	uint32_t set;  /* of clock events whose samples count, 0: not known */
	uint32_t fine; /* the same of fine ones, 0: none */
	uint32_t fine_ticks; /* since the last tick of set */
	uint32_t hardware;   /* the same of hardware.h */
	uint64_t sampled;    /* when the hardware last did; ns, 0: never */
	pid_t maker;         /* the thread that made this one, 0: not known */
	uint64_t made;       /* when; CLOCK_MONOTONIC ns */
};

struct task_thread {
	struct task_thread *next; /* in its bucket */
	struct task_process *process;
	struct sampler *sampler;
	pid_t tid;
	uint32_t id; /* of its row; no two threads of a watcher have the same */
	struct task_clock clock;
	char name[OUTSIDE_NAME_BYTES];
	struct cdp_thread *row; /* made at its first sample */
	uint64_t cpu_ns;
	uint64_t interrupts; /* of its clocks */
	struct rng rng;
	struct choose choose;
	struct comm_thread comm;
	struct pair_table pairs;
	struct core_table cores;
	struct slice_table slices;
	struct call_table calls;
	struct lease *lease;
	uint64_t here; /* address less key of the access at hand */
};

enum {
	TASK_BUCKETS = 4096
};

struct tasks {
	struct task_process *process; /* live ones, by rising number */
	struct task_thread *bucket[TASK_BUCKETS]; /* live ones, by tid */
	uint32_t numbers;                         /* processes so far */
	uint32_t *owner;  /* by id of a thread: the number of its process */
	size_t ids, room; /* threads so far */
};

/* A new process or thread; the caller sets what it knows of it. */
struct task_process *tasks_add_process(struct tasks *t, pid_t pid,
				       struct keys *keys);
struct task_thread *tasks_add_thread(struct tasks *t,
				     struct task_process *process, pid_t tid);

/* NULL if there is none. */
struct task_process *tasks_process(const struct tasks *t, pid_t pid);
struct task_thread *tasks_thread(const struct tasks *t, pid_t tid);

/*
 * Take them out and free them. The thread must have no lease, the process no
 * thread, no open file and no callers.
 */
void tasks_end_thread(struct tasks *t, struct task_thread *thread);
void tasks_end_process(struct tasks *t, struct task_process *process);

/* Read the maps of @p, if it is time again. */
void tasks_reread(struct task_process *p);

/* The generation of the maps, which have the code at @ip if anything does. */
uint64_t tasks_generation(struct task_process *p, uint64_t ip);

/* Some thread of @process, of any process if it is NULL; NULL: none. */
struct task_thread *tasks_any_thread(const struct tasks *t,
				     const struct task_process *process);

/* The number of the process that thread @id is or was of. */
uint32_t tasks_owner(const struct tasks *t, uint32_t id);

void tasks_release(struct tasks *t);

#endif
