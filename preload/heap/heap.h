/* SPDX-License-Identifier: MIT */
/*
 * heap - what libcomdet-heap.so knows of heap blocks
 *
 * The library is loaded beside libcomdet.so if `record --objects on` asks for
 * it. It stands before malloc and its kin, and operator new and delete, notes
 * who called, and passes the call on. libcomdet.so finds heap_find by its name.
 */
#ifndef COMDET_PRELOAD_HEAP_HEAP_H
#define COMDET_PRELOAD_HEAP_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#define HEAP_FIND "comdet_heap_find"
#define HEAP_CODE "comdet_heap_code"

enum {
	HEAP_PATH_MAX = 8, /* calls */
};

struct heap_block {
	uint64_t start;
	uint64_t bytes;  /* as asked for, rounded up */
	uint64_t caller; /* return address of the call that allocated it; 0:
			    not known */
	bool freed;
	uint32_t site; /* blocks with the same have the same path; 0: none */
	/*
	 * The return addresses of the calls that led there, from caller on;
	 * none if they were not asked for.
	 */
	uint32_t calls;
	uint64_t path[HEAP_PATH_MAX];
};

/*
 * Find the block that contains @addr: a live one, or else one that was freed
 * there and that no later block has replaced. Context: any, handler included.
 * Plain loads only.
 */
typedef bool heap_find_function(uint64_t addr, struct heap_block *out);
heap_find_function comdet_heap_find;

/* Where the code of the library lies. */
struct heap_code {
	const char *start, *end;
};
extern const struct heap_code comdet_heap_code;

#endif
