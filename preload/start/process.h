/* SPDX-License-Identifier: MIT */
/*
 * process - the profile at fork, exec and exit; the hooks call it
 */
#ifndef COMDET_PRELOAD_START_PROCESS_H
#define COMDET_PRELOAD_START_PROCESS_H

/* Before fork: sampling pauses, so that clone is not restarted for ever. */
void runtime_before_fork(void);
void runtime_after_fork_parent(void);
/*
 * In the forked child: release what it inherited from us (descriptors,
 * mappings, timers); with --children start anew.
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

/* The program started another one, which is not profiled: for the report. */
void runtime_count_not_followed(void);

#endif
