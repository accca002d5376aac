/* SPDX-License-Identifier: MIT */
/*
 * recall - recognize the path of an allocation without a walk
 *
 * What a walk does follows from the return addresses that it meets, and from
 * %rbp where a function counts its frame from there. So for each path it is
 * kept where on the stack these words were, relative to the innermost frame,
 * and what they were. If all of them are there again, a walk would meet the
 * same, and the path has the same number. Nothing is guessed: any other stack
 * is walked.
 *
 * A path is looked for by its first return address and the depth of the stack.
 *
 * Context: the allocating thread. No allocation, no lock; errno stays.
 */
#ifndef COMDET_PRELOAD_HEAP_RECALL_H
#define COMDET_PRELOAD_HEAP_RECALL_H

#include "heap.h"
#include "own_stack.h"

/* A path while it is walked. */
struct recall_path {
	uint32_t generation;
	uint32_t calls, rbps;
	const uint64_t *frame; /* the innermost */
	bool lasting; /* false: the walk depended on something else as well */
	uint64_t address[HEAP_PATH_MAX]; /* return addresses, */
	uint64_t at[HEAP_PATH_MAX];      /* and where they lie */
	uint64_t rbp[HEAP_PATH_MAX], rbp_at[HEAP_PATH_MAX];
};

void recall_path_begin(struct recall_path *p, uint64_t caller,
		       const uint64_t *frame);

/* The walk met return address @address at @at. */
void recall_path_call(struct recall_path *p, uint64_t at, uint64_t address);

/* The walk depends on @rbp, which it met at @at. */
void recall_path_rbp(struct recall_path *p, uint64_t at, uint64_t rbp);

/*
 * The number of the path that begins with @caller and the frame @frame on the
 * stack @s of the calling thread; 0: not known.
 */
uint32_t recall(const struct own_stack *s, uint64_t caller,
		const uint64_t *frame);

/* The next time, @p is @number, unless its walk cannot be recalled. */
void recall_put(const struct own_stack *s, const struct recall_path *p,
		uint32_t number);

/* Forget all: code may come to lie where other code was. */
void recall_forget(void);

#endif
