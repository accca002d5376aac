/* SPDX-License-Identifier: MIT */
/*
 * inherit - programs and threads that inherit the mask and the ignored signal
 */
#ifndef COMDET_PRELOAD_SIGNAL_INHERIT_H
#define COMDET_PRELOAD_SIGNAL_INHERIT_H

#include <stdbool.h>

/* What signal_before_exec changed in the kernel. */
struct signal_exec {
	bool blocked, ignored;
};

/*
 * Give the kernel the application's mask and ignored action, which a program
 * inherits, and take that back if exec failed. Any context.
 */
void signal_before_exec(struct signal_exec *undo);
void signal_exec_failed(const struct signal_exec *undo);

/*
 * The same around a call that starts a program while this one goes on, and
 * the mask alone around one that starts a thread.
 */
void signal_before_spawn(struct signal_exec *undo);
void signal_after_spawn(const struct signal_exec *undo);
void signal_before_thread(struct signal_exec *undo);
void signal_after_thread(const struct signal_exec *undo);

#endif
