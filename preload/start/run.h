/* SPDX-License-Identifier: MIT */
/*
 * run - the run that this process is part of, from the environment
 *
 * Context: set-up.
 */
#ifndef COMDET_PRELOAD_START_RUN_H
#define COMDET_PRELOAD_START_RUN_H

#include <stdbool.h>
#include <sys/types.h>

/* Set runtime.run_id and runtime.out from @run, and @root to the root's pid. */
bool run_parse(const char *run, pid_t *root);

/* Name the run in the environment, for the programs that this one starts. */
void run_announce(void);

/* The text that they get; NULL before run_announce. */
const char *run_announced(void);

#endif
