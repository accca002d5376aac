/* SPDX-License-Identifier: MIT */
/*
 * shadow - for each address, the heap block that contains it
 *
 * Each 16 bytes of address space have an entry of four bytes, which says that a
 * block begins there, how large it is, from where it was allocated, and whether
 * it was freed. Whoever looks an address up scans back to the nearest start. A
 * block of 64 KiB or more is also noted at each 64 KiB that it touches, so that
 * a scan is never longer than 4096 entries.
 *
 * The entries lie in regions that are mapped when first needed, one for each
 * 64 MiB. Nothing is allocated in the program's heap, and no block grows.
 *
 * Allocating threads write their own entries, and look-ups may run at any
 * moment: each entry is one atomic word, and a wrong answer costs a name.
 */
#ifndef COMDET_PRELOAD_HEAP_SHADOW_H
#define COMDET_PRELOAD_HEAP_SHADOW_H

#include "heap.h"

/* Note a block of @bytes at @start, allocated by a call that returns to
 * @caller. */
void shadow_add(uint64_t start, uint64_t bytes, uint64_t caller);

/*
 * The number of the path with @calls >= 1 return addresses, the one of the
 * allocating call first; 0 if there is no room. And note a block of such a
 * path.
 */
uint32_t shadow_site(const uint64_t *path, unsigned calls);
void shadow_add_site(uint64_t start, uint64_t bytes, uint32_t site);

/* Note that the block at @start was freed, or, with @freed false, was not. */
void shadow_free(uint64_t start, bool freed);

bool shadow_find(uint64_t addr, struct heap_block *out);

#endif
