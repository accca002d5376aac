/* SPDX-License-Identifier: MIT */
/*
 * our_code - which code of the process is ours
 *
 * What it accesses is not the program's. That is mostly libcomdet-heap.so,
 * which notes blocks while the program allocates.
 */
#ifndef COMDET_PRELOAD_SOURCES_OUR_CODE_H
#define COMDET_PRELOAD_SOURCES_OUR_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "preload/heap/heap.h"

/* @heap: of libcomdet-heap.so; NULL: it is not loaded. Context: set-up. */
void our_code_init(const struct heap_code *heap);

/* Is the instruction at @ip ours? Context: any. */
bool our_code_has(uint64_t ip);

#endif
