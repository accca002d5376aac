/* SPDX-License-Identifier: MIT */
/*
 * heap_path - the calls that led to an allocation (record --objects on -g)
 *
 * The stack is walked by what .eh_frame says of each return address. That is
 * looked up once, and kept as one word: where the caller's stack pointer was,
 * and where its %rbp is saved. The walk ends at the first frame that is not of
 * that common kind, and after HEAP_PATH_MAX calls.
 *
 * It reads without asking only what own_stack.h allows. So damaged tables, or a
 * stack of the program's own, end a path early and do no harm. A path that was
 * walked before is recognized without a walk (recall.h).
 *
 * Context: the allocating thread. No allocation, no lock; errno stays. A return
 * address that is new takes 4 KiB of stack.
 */
#ifndef COMDET_PRELOAD_HEAP_HEAP_PATH_H
#define COMDET_PRELOAD_HEAP_HEAP_PATH_H

#include "heap.h"
#include "own_stack.h"

struct loaded_ranges;

/*
 * Walk from the call that returns to @caller, made by the function whose callee
 * has its frame at @frame, by __builtin_frame_address(0). Returns the number of
 * the site, for shadow_add_site, and has the path recalled where it can be. @s:
 * of the calling thread, or NULL.
 */
uint32_t heap_path_site(struct own_stack *s, uint64_t caller,
			const uint64_t *frame);

/* The tables of frames in @lasting stay mapped. Context: set-up. */
void heap_path_use(const struct loaded_ranges *lasting);

/* A library was unloaded: another one may come to lie at its addresses. */
void heap_path_forget(void);

#endif
