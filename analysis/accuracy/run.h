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
 * The directory for recordings: @keep, created if it does not exist, or a
 * temporary one that is removed at exit. Dies if it cannot be created.
 */
const char *accuracy_directory(const char *keep);

/* The path of a microbenchmark, malloc'ed; dies if it is not installed. */
char *accuracy_find_program(const char *name);

/* The last line of a file, malloc'ed; empty if it cannot be read. */
char *accuracy_last_words(const char *path);

/* In a child: clear what the user set for other recordings. */
void accuracy_clear_environment(void);
/* In a child: make descriptor @to a copy of @from, or exit. */
void accuracy_become(int from, int to);

#endif
