/* SPDX-License-Identifier: MIT */
/*
 * event - perf events of other tasks, as the watcher opens them
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_EVENT_H
#define COMDET_ANALYSIS_OUTSIDE_EVENT_H

#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

#include "src/engine/comm.h"

/* What all events have in common; never the kernel, never a hypervisor. */
struct perf_event_attr event_attr(void);

/* What a task makes that inherits its clock. */
enum event_heirs {
	HEIRS_NONE,
	HEIRS_THREADS,
	HEIRS_PROCESSES, /* and threads */
};

/*
 * The clock of a task: an interrupt every @period ns of its CPU time in user
 * mode; and records of its threads, names and mappings. With @on_exec it begins
 * when the task executes a program.
 */
struct perf_event_attr event_clock(uint64_t period, enum event_heirs heirs,
				   bool on_exec);

/*
 * A debug register on the bytes of @range: stopped, and for one hit once it is
 * started with PERF_EVENT_IOC_REFRESH.
 */
struct perf_event_attr event_register(const struct watch_range *range);

enum {
	EVENT_STACK_BYTES = 8192,
};

/*
 * Let its samples have the first EVENT_STACK_BYTES of the thread's stack too,
 * which the kernel copies in the interrupt.
 */
void event_add_stack(struct perf_event_attr *a);

/* Open it for task @tid, 0 for ourselves; @cpu may be -1. fd or -errno. */
int event_open(const struct perf_event_attr *attr, pid_t tid, int cpu);

/* True if its task has ended, and all those that have inherited it. */
bool event_has_ended(int fd);

#endif
