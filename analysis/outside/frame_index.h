/* SPDX-License-Identifier: MIT */
/*
 * frame_index - an .eh_frame_hdr for a program whose linker wrote none
 *
 * Static programs have .eh_frame, but not the sorted table by which src/unwind
 * finds a function in it. The place of .eh_frame is in the section headers of
 * the file, its content in memory. Neither is trusted.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_FRAME_INDEX_H
#define COMDET_ANALYSIS_OUTSIDE_FRAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/unwind/reader.h"

/* Zero-initialized, there is none. */
struct frame_index {
	uint64_t low;   /* of the program that it is of */
	uint64_t at;    /* where it is to appear: whole pages below low */
	uint8_t *bytes; /* malloc'ed */
	size_t n;
};

/*
 * Make the index of the program of file @fd, which is mapped at @low and read
 * through @memory. False if another object is mapped there, or if it has no
 * .eh_frame that is understood.
 */
bool frame_index_make(struct frame_index *x, int fd, uint64_t low,
		      const struct unwind_memory *memory);

void frame_index_release(struct frame_index *x);

#endif
