/* SPDX-License-Identifier: MIT */
/*
 * stack_bounds - where a thread's own stack lies
 *
 * It is what the C library gave the thread, told when it begins, and what the
 * kernel gave the process's first thread. Where the thread runs at some moment
 * says nothing of it: that may be a coroutine's stack, or a handler's. It stays
 * what it is in a forked child.
 */
#ifndef COMDET_PRELOAD_CORE_STACK_BOUNDS_H
#define COMDET_PRELOAD_CORE_STACK_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct stack_bounds {
	uint64_t low, bytes; /* bytes 0: not known */
};

/*
 * Takes in the kernel's list of mappings, a piece at a time. The stack is the
 * mapping of @at, and what lies below, down to the mapping before, as far as
 * all is @limit bytes.
 */
struct stack_search {
	uint64_t at, limit;
	struct stack_bounds found;
	uint64_t number, start, before;
	int field;
};

/* Returns whether it was found. Context: any. */
bool stack_search_take(struct stack_search *s, const char *text, uint64_t n);

/*
 * Look for that of the process's first thread, if this is it and runs on it and
 * it is not known. Context: set-up.
 */
void stack_bounds_look(void);

/* The calling thread's stack is the @bytes at @low. Before threads_begin. */
void stack_bounds_tell(uint64_t low, uint64_t bytes);

/* The calling thread's, as far as it is known. Context: any. */
struct stack_bounds stack_bounds_own(void);

#endif
