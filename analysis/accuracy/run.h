/* SPDX-License-Identifier: MIT */
/*
 * run - run microbenchmarks under record
 */
#ifndef COMDET_ANALYSIS_ACCURACY_RUN_H
#define COMDET_ANALYSIS_ACCURACY_RUN_H

#include "accuracy.h"

/*
 * Run the trials of @s, which begin at all->suite_first, all->jobs at a time. A
 * trial that fails says so. Trials that all->minutes leaves no time for are
 * removed from all->trials and counted in all->left_out. Dies if nothing can be
 * run at all.
 */
void accuracy_run(struct accuracy *all, const struct accuracy_suite *s);

/*
 * Where recordings go: @keep, which is made if it is not there, or a temporary
 * directory that is removed at exit. Dies if there is none to be had.
 */
const char *accuracy_directory(const char *keep);
/* With all that is in it; nothing if it is not there. */
void accuracy_remove(const char *path);

/* The path of a microbenchmark, malloc'ed; dies if it is not installed. */
char *accuracy_find_program(const char *name);

/* The last line of a file, malloc'ed; empty if it cannot be read. */
char *accuracy_last_words(const char *path);

/* In a child: nothing of what the user set for other recordings. */
void accuracy_clear_environment(void);
/* In a child: the descriptor @to is what @from is, or exit. */
void accuracy_become(int from, int to);

#endif
