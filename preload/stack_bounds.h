/* SPDX-License-Identifier: MIT */
/*
 * stack_bounds - where a thread's own stack lies, from the kernel's list
 */
#ifndef COMDET_STACK_BOUNDS_H
#define COMDET_STACK_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct stack_bounds {
	uint64_t low, bytes; /* bytes 0: not known */
};

/*
 * Takes in the list of mappings, a piece at a time. @grows: all down to the
 * mapping before belongs to the stack as well, as of a process's first thread.
 */
struct stack_search {
	uint64_t sp;
	bool grows;
	struct stack_bounds found;
	uint64_t number, start, before;
	int field;
};

/* Returns whether it was found. Context: any. */
bool stack_search_take(struct stack_search *s, const char *text, uint64_t n);

/*
 * The stack that @sp lies on, the calling thread's. Context: handler.
 */
struct stack_bounds stack_bounds_of(uint64_t sp);

#endif
