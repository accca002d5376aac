/* SPDX-License-Identifier: MIT */
/*
 * heap_blocks - the heap blocks that detections are about, in the file
 *
 * libcomdet-heap.so, if it is loaded, knows them. They are looked up when a
 * detection is made, because the program may free them soon.
 */
#ifndef COMDET_PRELOAD_SOURCES_HEAP_BLOCKS_H
#define COMDET_PRELOAD_SOURCES_HEAP_BLOCKS_H

#include "preload/heap/heap.h"
#include "src/engine/comm.h"

/*
 * Ask @function, of libcomdet-heap.so; NULL: the library is not loaded.
 * Context: set-up, once.
 */
void heap_blocks_use(heap_find_function *function);

/*
 * Begin anew, with an empty table, if there is somebody to ask. Returns 0 or
 * -ENOMEM. Context: set-up, in a child that fork made too.
 */
int heap_blocks_init(void);

/*
 * Write down the blocks that the two accesses of @d lie in, each once. A
 * block may be missing where several threads write
 * one at the same moment; its next detection tries again. Context: handler.
 */
void heap_blocks_note(const struct detection *d);

#endif
