/* SPDX-License-Identifier: MIT */
/*
 * sites - who allocated heap blocks: a number for each caller or path of calls
 *
 * Callers are kept where their hash says. Paths get one number after the other,
 * so that a program with few of them touches little memory. Whoever asks for
 * callers first and for paths later, as before and after the start of the
 * program, gets different numbers.
 *
 * Context: any thread. Nobody waits. No allocation; errno stays.
 */
#ifndef COMDET_PRELOAD_HEAP_SITES_H
#define COMDET_PRELOAD_HEAP_SITES_H

#include "heap.h"

enum {
	SITE_BITS = 16,
	SITES = 1 << SITE_BITS,
};

/* The number of the call that returns to @caller; 0 if there is no room. */
uint32_t sites_caller(uint64_t caller);

/*
 * The number of the path with @calls >= 1 return addresses, none of them 0, the
 * one of the allocating call first; 0 if there is no room.
 */
uint32_t sites_path(const uint64_t *path, unsigned calls);

/* Set caller and path of @block by its site. Context: handler too. */
void sites_describe(struct heap_block *block);

#endif
