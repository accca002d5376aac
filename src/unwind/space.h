/* SPDX-License-Identifier: MIT */
/*
 * space - what a walk of a thread's stack has to know, and what it finds
 */
#ifndef COMDET_UNWIND_SPACE_H
#define COMDET_UNWIND_SPACE_H

#include "module.h"
#include "reader.h"

struct last_walk;
struct loaded_ranges;
struct row_cache;

struct unwind_space {
	struct unwind_memory memory;
	unwind_find_function *find;
	void *find_ctx;
	struct row_cache *rows; /* NULL: nothing is remembered */
	/* Tables of objects that stay mapped, here. NULL: there are none. */
	const struct loaded_ranges *lasting;
	struct last_walk *last; /* of the thread; NULL: it is not kept */
};

struct unwind_frame {
	/*
	 * The instruction where the frame is: the first frame's, and that of
	 * one which a signal interrupted. In every other frame it lies in the
	 * call, one byte before the instruction to which the call returns.
	 */
	uint64_t ip;
	uint64_t sp;  /* of that moment */
	bool guessed; /* found by a frame pointer */
};

#endif
