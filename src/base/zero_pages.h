/* SPDX-License-Identifier: MIT */
/*
 * zero_pages - memory for the set-up: all zero, taken when it is touched
 */
#ifndef COMDET_BASE_ZERO_PAGES_H
#define COMDET_BASE_ZERO_PAGES_H

#include <stddef.h>
#include <sys/mman.h>

/* Map @bytes, aligned to a page; NULL if there is no room. Context: set-up. */
static inline void *zero_pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

#endif
