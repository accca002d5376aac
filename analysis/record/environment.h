/* SPDX-License-Identifier: MIT */
/*
 * environment - keep the program's stack where it is without us
 *
 * The kernel puts the environment above the program's stack, so each variable
 * that we add moves the stack. Variables of chosen lengths make that a whole
 * number of cache lines.
 */
#ifndef COMDET_ANALYSIS_RECORD_ENVIRONMENT_H
#define COMDET_ANALYSIS_RECORD_ENVIRONMENT_H

#include <stddef.h>

/* What an environment takes above the stack. */
struct environment_size {
	size_t bytes; /* of the texts */
	size_t count;
};

struct environment_size environment_size(char *const *env);

/* Note the size of our own environment. Call it before it changes. */
void environment_note(void);

/*
 * Set COMDET_PAD and, if that takes two variables, COMDET_PAD2, so that the
 * environment is larger than the noted one by a whole number of cache lines and
 * an even number of variables. Returns 0, or -1 with errno set.
 */
int environment_pad(void);

#endif
