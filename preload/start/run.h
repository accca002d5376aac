/* SPDX-License-Identifier: MIT */
/*
 * run - which run this process is part of, as the environment tells
 *
 * Context: set-up.
 */
#ifndef COMDET_PRELOAD_START_RUN_H
#define COMDET_PRELOAD_START_RUN_H

#include <stdbool.h>
#include <sys/types.h>

/* Fill in the runtime's run and directory from @run; the root's id. */
bool run_parse(const char *run, pid_t *root);

/* Let the programs that we start know of the run. */
void run_announce(void);

/* What they are told; NULL if this process has not announced anything. */
const char *run_announced(void);

#endif
