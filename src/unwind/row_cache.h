/* SPDX-License-Identifier: MIT */
/*
 * row_cache - rows of .eh_frame, remembered by instruction
 *
 * All threads share a table. A row is kept if it is of the common kind: the CFA
 * is a register plus an offset, the caller's instruction is saved below the CFA
 * or not known, and each register that functions keep is saved at an offset or
 * unchanged. Nobody waits: a look-up that meets a writer misses, and a writer
 * that meets another leaves.
 *
 * Context: any, handler included. No allocation, no lock.
 */
#ifndef COMDET_UNWIND_ROW_CACHE_H
#define COMDET_UNWIND_ROW_CACHE_H

#include "cfi.h"

struct row_cache;

/* Bytes of memory for @rows, a power of two; 0: there can be none such. */
size_t row_cache_size(uint32_t rows);

/* An empty cache in @mem: zeroed, aligned to 64. Context: set-up. */
struct row_cache *row_cache_init(void *mem, uint32_t rows);

/*
 * The row for @pc of the object with @identity, with its function's start and
 * expressions left out. False if it is not there.
 */
bool row_cache_find(const struct row_cache *c, uint64_t pc, uint64_t identity,
		    struct cfi_row *row);

void row_cache_put(struct row_cache *c, uint64_t pc, uint64_t identity,
		   const struct cfi_row *row);

#endif
