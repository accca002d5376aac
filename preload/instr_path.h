/* SPDX-License-Identifier: MIT */
/*
 * instr_path - the calls that led to an access, from the frames that hooks keep
 *
 * A function that is left by a jump or an exception, or that changes its stack
 * pointer, does not take its frame away. Such frames are told by the stack: the
 * return address of an active function lies between its own stack pointer and
 * that of the active function before it. So going outwards from the innermost,
 * a frame below which that address is not to be found is no longer active.
 *
 * A function that is on the path more than once is there once, where it came
 * first, and is said to recur; else recursion would give each depth a path of
 * its own. What lies between its first and its last time is left out.
 */
#ifndef COMDET_INSTR_PATH_H
#define COMDET_INSTR_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "instr/instr.h"
#include "src/path_table.h"

enum {
	INSTR_STACK_PAGE = 4096,
};

/* The program's stack, a page at a time. */
struct instr_stack {
	/* 0, or -EFAULT where there is none. */
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t n);
	void *ctx;
	uint64_t page; /* address of what is in word, 0: nothing */
	uint64_t word[INSTR_STACK_PAGE / sizeof(uint64_t)];
};

/*
 * The calls that are active at an access made with stack pointer @sp, of the @n
 * frames at @frame, outermost first. Fills in @call, outermost first, which has
 * room for @n; @frame is used up.
 *
 * Context: handler. Returns how many there are.
 */
uint32_t instr_path(struct instr_frame *frame, uint32_t n, uint64_t sp,
		    struct instr_stack *stack, struct path_call *call);

#endif
