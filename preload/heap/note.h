/* SPDX-License-Identifier: MIT */
/*
 * note - note who allocated a block: the call, or the calls that led to it
 */
#ifndef COMDET_PRELOAD_HEAP_NOTE_H
#define COMDET_PRELOAD_HEAP_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the function that uses it was called from. */
struct note_from {
	uint64_t caller;       /* return address */
	const uint64_t *frame; /* of this function: the caller's %rbp, then the
				  return address */
};

#define NOTE_FROM                                                              \
	((struct note_from){                                                   \
		(uint64_t)(uintptr_t)__builtin_return_address(0),              \
		__builtin_frame_address(0),                                    \
	})

/* Read from the environment whether paths are wanted. Context: set-up. */
void note_begin(void);

/* Note the block of @bytes at @p unless that is NULL; errno stays. */
void note(const void *p, size_t bytes, struct note_from from);

#endif
