/* SPDX-License-Identifier: MIT */
/*
 * follow - threads and processes that begin, execute programs and end
 *
 * The kernel's records tell of all that, in order of time. A record may have
 * been lost: a sample of a thread that is not known makes it known, and who
 * asks for a process finds out that it has ended (watcher.c).
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_FOLLOW_H
#define COMDET_ANALYSIS_OUTSIDE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "clocks.h"
#include "file.h"
#include "hardware.h"
#include "makers.h"
#include "registers.h"
#include "rings.h"
#include "sampler.h"
#include "tasks.h"

struct follow {
	bool children;   /* processes that are made are watched too */
	bool threads;    /* nothing but the threads that were added is */
	bool on_exec;    /* a program is yet to be executed */
	bool resting;    /* samples are counted as lost, for our budget */
	bool paused;     /* no samples are wanted; see --control */
	uint64_t cpu_ns; /* CPU time of all threads, by their ticks */
	struct rings rings;
	struct clocks clocks;
	struct hardware hardware; /* if it is the source */
	struct makers makers;
	struct registers registers;
	struct tasks tasks;
	struct sampler sampler;
	struct outside_run run;
};

struct task_process *follow_add_process(struct follow *f, pid_t pid);

/* @name is NULL if the kernel is to be asked for it. */
struct task_thread *follow_add_thread(struct follow *f, struct task_process *p,
				      pid_t tid, const char *name);

/*
 * Open the events of thread @tid, which exists, and add it to @p. Returns 0 or
 * -errno.
 */
int follow_watch(struct follow *f, struct task_process *p, pid_t tid);

/* Begin the file of @p, with its maps. False if there is none. */
bool follow_open_file(struct follow *f, struct task_process *p);

/* End it and all of its threads, and complete its file. */
void follow_end_process(struct follow *f, struct task_process *p,
			enum cdp_state state, uint64_t now, const char *note);

/*
 * Take no samples from now on, or (@paused false) take them again. Threads and
 * processes are followed all the same.
 */
void follow_pause(struct follow *f, bool paused);

/* Count @n of @cause, which concern all. */
void follow_lose(struct follow *f, enum loss_cause cause, uint64_t n);

/* Take in a record of the ring @from. */
void follow_record(struct follow *f, const struct outside_record *r,
		   struct outside_ring *from);

/*
 * Close the events of threads that have ended, of which all records were taken
 * in since the last call.
 */
void follow_close_ended(struct follow *f);

/* Take in all records up to now. */
void follow_drain(struct follow *f);

#endif
