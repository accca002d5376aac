/* SPDX-License-Identifier: MIT */
/*
 * symbols_internal - what the files of symbols share
 */
#ifndef COMDET_ANALYSIS_SYMBOLS_SYMBOLS_INTERNAL_H
#define COMDET_ANALYSIS_SYMBOLS_SYMBOLS_INTERNAL_H

#include "module.h"
#include "symbols.h"

/*
 * The module that has @addr mapped, and the address there, as in the file; NULL
 * if none has, or if it cannot be used. @exec: the address is one of code.
 */
struct module *symbols_module(struct symbols *s, const struct process *process,
			      uint64_t addr, uint64_t generation, bool exec,
			      uint64_t *vaddr);

enum {
	BLOCK_PLACES_MAX = 16,
};

/*
 * Fill in who allocated the block @out, from the @n >= 1 places of its path,
 * innermost first. It begins with the first call by the user's own code, if
 * there is one, and ends with the function that the thread began with. Returns
 * memory of @out, to be freed.
 */
void *symbols_block_path(const struct place *place, size_t n,
			 struct object *out);

/* "heap block from pool.c:88 (make_pool < main)", to be freed */
char *symbols_block_text(const struct object *o);

#endif
