/* SPDX-License-Identifier: MIT */
/*
 * strides - what a miss of L1D makes a prefetcher ask for
 */
#ifndef COMDET_ANALYSIS_MODEL_STRIDES_H
#define COMDET_ANALYSIS_MODEL_STRIDES_H

#include "machine.h"

enum {
	STRIDE_PAGES = 16,
	PAGE_SHIFT = 12 - MACHINE_LINE_SHIFT, /* of a line's number */
};

/* The latest misses in a page, for the stride prefetcher. */
struct page_misses {
	uint64_t page; /* + 1 */
	uint64_t line;
	int64_t stride;
};

struct strides {
	struct page_misses page[STRIDE_PAGES];
};

/*
 * The line that follows @line, if the misses of its page come with the same
 * distance; @line if not, or if it is on another page.
 */
static inline uint64_t strides_next(struct strides *s, uint64_t line)
{
	uint64_t page = line >> PAGE_SHIFT, next = line;
	struct page_misses *m = &s->page[page % STRIDE_PAGES];
	int64_t stride;

	if (m->page != page + 1) {
		*m = (struct page_misses){ .page = page + 1, .line = line };
		return line;
	}
	stride = (int64_t)(line - m->line);
	if (stride && stride == m->stride)
		next = line + (uint64_t)stride;
	m->stride = stride;
	m->line = line;
	return next >> PAGE_SHIFT == page ? next : line;
}

/* The line to fetch besides @line, which missed, or @line. */
static inline uint64_t prefetch_line(enum machine_prefetcher kind,
				     struct strides *s, uint64_t line)
{
	switch (kind) {
	case PREFETCHER_NEXT_LINE:
		return line + 1;
	case PREFETCHER_ADJACENT:
		return line ^ 1;
	case PREFETCHER_STRIDE:
		return strides_next(s, line);
	default:
		return line;
	}
}

#endif
