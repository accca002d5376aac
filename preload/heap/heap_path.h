/* SPDX-License-Identifier: MIT */
/*
 * heap_path - the calls that led to an allocation (record --objects on -g)
 *
 * The stack is walked by what .eh_frame says of each return address. That is
 * looked up once, and kept as one word: where the caller's stack pointer was,
 * and where its %rbp is saved. The walk ends at the first frame that is not of
 * that common kind, and after HEAP_PATH_MAX calls.
 *
 * It reads without asking only such parts of the thread's own stack as the
 * kernel has found readable for it before, and all else through the kernel. So
 * damaged tables, or a stack of the program's own, end a path early and do no
 * harm.
 *
 * Context: the allocating thread. No allocation, no lock; errno stays. A return
 * address that is new takes 4 KiB of stack.
 */
#ifndef COMDET_PRELOAD_HEAP_HEAP_PATH_H
#define COMDET_PRELOAD_HEAP_HEAP_PATH_H

#include "heap.h"

/*
 * Fill in the return addresses from @caller on, innermost first: that of the
 * function whose frame begins at @frame, by __builtin_frame_address(0). Returns
 * how many.
 */
unsigned heap_path(uint64_t caller, const uint64_t *frame,
		   uint64_t path[HEAP_PATH_MAX]);

/* A library was unloaded: another one may come to lie at its addresses. */
void heap_path_forget(void);

#endif
