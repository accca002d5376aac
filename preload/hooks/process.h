/* SPDX-License-Identifier: MIT */
/*
 * process - fork
 */
#ifndef COMDET_PRELOAD_HOOKS_PROCESS_H
#define COMDET_PRELOAD_HOOKS_PROCESS_H

#include <stdbool.h>

/* Call these around fork and functions like it. */
void process_before_fork(void);
void process_after_fork_parent(bool forked);
void process_after_fork_child(void);

#endif
