/* SPDX-License-Identifier: MIT */
/*
 * altstack - alternate stacks for threads whose own is too small
 */
#ifndef COMDET_PRELOAD_HOOKS_ALTSTACK_H
#define COMDET_PRELOAD_HOOKS_ALTSTACK_H

#include <stddef.h>

/*
 * In a new thread that is profiled: give it an alternate stack for signals if
 * its stack of @stack_bytes, 0: unknown, may have no room for their frames.
 * Without memory it goes on without. The program does not see that stack.
 * Returns what altstack_end needs, NULL if the thread got none.
 */
void *altstack_begin(size_t stack_bytes);

/* At the end of a thread that got one. */
void altstack_end(void *given);

#endif
