/* SPDX-License-Identifier: MIT */
/*
 * outside - run a program, and watch it from outside instead of preloading
 */
#ifndef COMDET_ANALYSIS_RECORD_OUTSIDE_H
#define COMDET_ANALYSIS_RECORD_OUTSIDE_H

#include <stdbool.h>

#include "run.h"

/* True if --outside asks for it. */
bool record_outside(void);

/*
 * As run_program(), with the watcher beside it (analysis/outside). Dies if the
 * watcher cannot attach; then the program has not run.
 */
int run_program_outside(struct run *r, int dirfd);

#endif
