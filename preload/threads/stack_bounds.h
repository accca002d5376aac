/* SPDX-License-Identifier: MIT */
/*
 * stack_bounds - where a thread's own stack lies
 *
 * The C library gives a thread its stack, and the hook tells us its bounds when
 * the thread begins; the kernel gives one to the process's first thread. The
 * stack pointer alone does not tell: the thread may run on a coroutine's stack
 * or in a handler. A forked child keeps the bounds.
 */
#ifndef COMDET_PRELOAD_THREADS_STACK_BOUNDS_H
#define COMDET_PRELOAD_THREADS_STACK_BOUNDS_H

#include <stdbool.h>
#include <stdint.h>

struct stack_bounds {
	uint64_t low, bytes; /* bytes 0: unknown */
};

/*
 * A search for a stack among all mappings. The stack is the mapping that holds
 * @at, together with the gap below it, down to the mapping before; both
 * together have at most @limit bytes.
 */
struct stack_search {
	uint64_t at, limit;
	struct stack_bounds found;
	uint64_t before; /* end of the mapping before */
};

/*
 * Take the next mapping, by rising address. Returns whether the stack was
 * found. Context: any.
 */
bool stack_search_take(struct stack_search *s, uint64_t start, uint64_t end);

/*
 * Look for the stack of the process's first thread, if the calling thread is
 * that one, runs on it, and it is not known yet. Context: set-up.
 */
void stack_bounds_look(void);

/* The calling thread's stack is the @bytes at @low. Before threads_begin. */
void stack_bounds_tell(uint64_t low, uint64_t bytes);

/* The calling thread's stack; bytes 0 if unknown. Any context. */
struct stack_bounds stack_bounds_own(void);

#endif
