/* SPDX-License-Identifier: MIT */
/*
 * path - the calls that led to an access, from the frames that hooks keep
 *
 * A function that is left by a jump, or by a change of stacks, leaves its frame
 * behind. The stack itself shows which functions are active: the return address
 * of an active function lies above its stack pointer, at the end of its frame.
 * Going outwards, a frame within the extent of a frame already found is not
 * active, nor is one whose return address is not on the stack.
 *
 * A path covers one stack. On the thread's own stack, code without hooks may
 * lie between two functions. On any other stack (a coroutine's, a handler's)
 * nothing shows where it ends and the next one begins, so a path ends there at
 * a function that code without hooks called. The same holds if we do not know
 * which stack is the thread's own; then calls may be missing.
 *
 * A function that is on the path several times appears once, at its first
 * place, and is marked as recurring; otherwise recursion would give each depth
 * a path of its own. What lies between its first and its last call is left out.
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

/* The program's stack, read a page at a time. */
struct instr_stack {
	/* Returns 0, or -EFAULT if there is no memory. */
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t n);
	void *ctx;
	struct stack_bounds
		bounds; /* bounds of the thread's own stack; 0: not known */
	uint64_t page;  /* address of the page in word, 0: none */
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
	bool is_cut;                           /* calls may be missing */
	struct path_call call[INSTR_PATH_MAX]; /* outermost first */
	struct instr_frame frame[INSTR_PATH_MAX];
};

/*
 * Fill in the calls that are active at an access made with stack pointer @sp,
 * from the frames of all @copies. The call removes these frames from the
 * copies.
 *
 * Context: handler. Reads at most some tens of pages.
 */
void instr_path_find(struct instr_path *p, struct instr_frames *copy,
		     uint32_t copies, uint64_t sp);

#endif
