/* SPDX-License-Identifier: MIT */
/*
 * process - the profile at fork, exec and exit; the hooks call it
 */
#ifndef COMDET_PRELOAD_START_PROCESS_H
#define COMDET_PRELOAD_START_PROCESS_H

#include <stdbool.h>

/* Before fork: sampling pauses, so that clone is not restarted for ever. */
void runtime_before_fork(void);
void runtime_after_fork_parent(void);
/*
 * True if a forked child is followed and its profile may begin later. If it
 * does, the child keeps the claim of the signal (signal_keep_in_child) and
 * calls runtime_child_waits, else runtime_after_fork_child. That is also called
 * if the child cannot wait: if runtime_child_waits returns false.
 */
bool runtime_child_may_wait(void);
bool runtime_child_waits(void);
/*
 * In the forked child of a process that is profiled, or waits: release what it
 * inherited from us (descriptors, mappings, timers); with --children start
 * anew.
 */
void runtime_after_fork_child(void);

/*
 * This process is about to exec: mark the file CDP_EXECED. If exec fails,
 * runtime_exec_failed takes that back.
 */
void runtime_before_exec(void);
void runtime_exec_failed(void);

/* This process is about to end without running destructors (_exit). */
void runtime_before_exit(void);

/*
 * The program is about to use @what, after which a system call in our handler
 * may kill or block it: profiling stops, and one line says so.
 */
void runtime_before_sandbox(const char *what);

/*
 * Is @fd ours: that of an event, or of the file? Any context, a system call if
 * it looks like it.
 */
bool runtime_is_descriptor(int fd);

/* The program started another one, which is not profiled: for the report. */
void runtime_count_not_followed(void);

#endif
