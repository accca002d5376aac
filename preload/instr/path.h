/* SPDX-License-Identifier: MIT */
/*
 * path - the calls that led to an access, from the frames that hooks keep
 *
 * A function that is left by a jump, or by changing the stack, does not take
 * its frame away. What is active is told by the stack itself: the return
 * address of an active function lies above its stack pointer, in the frame that
 * ends there. So going outwards, what lies in a frame that was found is not
 * active, nor is a function whose return address is not to be found.
 *
 * A path is of one stack. On the thread's own, code without hooks may lie
 * between two functions. On any other (of a coroutine, of a handler) nothing
 * tells where it ends and the next one begins, so there a path ends where a
 * function was called by code without hooks. So it does where it is not known
 * which stack is the thread's own, and then calls may be missing.
 *
 * A function that is on the path more than once is there once, where it came
 * first, and is said to recur; else recursion would give each depth a path of
 * its own. What lies between its first and its last time is left out.
 */
#ifndef COMDET_PRELOAD_INSTR_PATH_H
#define COMDET_PRELOAD_INSTR_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/instr/runtime/instr.h"
#include "src/store/path_table.h"
#include "preload/threads/stack_bounds.h"

enum {
	INSTR_STACK_PAGE = 4096,
	INSTR_PATH_MAX = 1024, /* calls */
};

/* The program's stack, a page at a time. */
struct instr_stack {
	/* 0, or -EFAULT where there is none. */
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t n);
	void *ctx;
	struct stack_bounds bounds; /* the thread's own; 0: not known */
	uint64_t page;              /* address of what is in word, 0: nothing */
	uint64_t word[INSTR_STACK_PAGE / sizeof(uint64_t)];
};

/* The frames that one copy of the hooks keeps, outermost first. */
struct instr_frames {
	const struct instr_frame *frame;
	uint32_t n;
};

/* The caller sets read, ctx and bounds of the stack. */
struct instr_path {
	struct instr_stack stack;
	uint32_t calls;
	bool is_cut; /* some may be missing that should be there */
	struct path_call call[INSTR_PATH_MAX]; /* outermost first */
	struct instr_frame frame[INSTR_PATH_MAX];
};

/*
 * Fill in the calls that are active at an access made with stack pointer @sp,
 * of the frames of all @copies. These are used up.
 *
 * Context: handler. Reads some tens of pages at most.
 */
void instr_path_find(struct instr_path *p, struct instr_frames *copy,
		     uint32_t copies, uint64_t sp);

#endif
