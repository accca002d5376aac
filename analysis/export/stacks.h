/* SPDX-License-Identifier: MIT */
/*
 * stacks - detections as stacks of frames, for flame graphs
 *
 * The frames of a detection, outermost first, say what was found: the process,
 * the kind of sharing, the object, the statement that stored, and the statement
 * that found the line taken. Before each of the two statements are the calls
 * that led to it, if the profile has them (record -g).
 */
#ifndef COMDET_ANALYSIS_EXPORT_STACKS_H
#define COMDET_ANALYSIS_EXPORT_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/report/report.h"

enum {
	STACK_PROCESS,
	STACK_KIND,
	STACK_OBJECT,
	STACK_PLACE /* here the code begins */
};

struct stack_frame {
	char *name;       /* UTF-8 */
	const char *file; /* NULL: none */
	int line;         /* 0: none */
};

struct stack {
	struct stack_frame *frame;
	size_t frames, room;
	enum sharing kind;
	uint32_t threads[2]; /* rows: who stored, who met it */
	uint64_t line;       /* address of the cache line */
	uint64_t detections;
};

struct stacks {
	struct stack *stack;
	size_t stacks, room;
};

/* Those of the report's tally. Dies for want of memory. */
void stacks_init(struct stacks *s, const struct report *r);
void stacks_release(struct stacks *s);

#endif
