/* SPDX-License-Identifier: MIT */
/*
 * run - what all that runs microbenchmarks has in common
 */
#ifndef COMDET_ANALYSIS_ACCURACY_RUN_H
#define COMDET_ANALYSIS_ACCURACY_RUN_H

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
