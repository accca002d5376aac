/* SPDX-License-Identifier: MIT */
/*
 * inherit - what new programs and threads inherit: the mask, ignored signals
 */
#ifndef COMDET_PRELOAD_SIGNAL_INHERIT_H
#define COMDET_PRELOAD_SIGNAL_INHERIT_H

#include <stdbool.h>

/* The changes that signal_before_exec made in the kernel. */
struct signal_exec {
	bool blocked, ignored;
};

/*
 * Give the kernel the application's mask and SIG_IGN, which the new program
 * inherits; signal_exec_failed takes that back. Any context.
 */
void signal_before_exec(struct signal_exec *undo);
void signal_exec_failed(const struct signal_exec *undo);

/*
 * The same around a call that starts another program; and, for the mask alone,
 * around a call that starts a thread.
 */
void signal_before_spawn(struct signal_exec *undo);
void signal_after_spawn(const struct signal_exec *undo);
void signal_before_thread(struct signal_exec *undo);
void signal_after_thread(const struct signal_exec *undo);

#endif
