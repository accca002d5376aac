/* SPDX-License-Identifier: MIT */
/*
 * block_work - what a block does that a profile counts
 *
 * Most blocks are executed outside of micro-traces. Of these a profile needs
 * the classes of the micro-operations, which are the same each time, and the
 * lines and branches in their order; the other instructions are passed over.
 */
#ifndef COMDET_ANALYSIS_PREDICT_BLOCK_WORK_H
#define COMDET_ANALYSIS_PREDICT_BLOCK_WORK_H

#include "analysis/model/trace.h"

enum block_step_kind {
	BLOCK_FETCH,  /* of another line than the one before in the block */
	BLOCK_LOADS,  /* one micro-operation that loads */
	BLOCK_STORES, /* one that stores */
	BLOCK_BRANCH,
};

struct block_step {
	uint64_t line;  /* fetch */
	uint32_t index; /* of the instruction in its block */
	enum block_step_kind kind;
	uint32_t uops; /* from that of the step before to its own */
};

struct block_class {
	uint32_t class, uops; /* enum uop_class; how many */
};

struct block_work {
	struct block_step *step; /* NULL: not made yet */
	uint32_t steps;
	uint32_t rest; /* micro-operations behind that of the last step */
	uint32_t classes;
	struct block_class *class;
};

/* Of all blocks of a trace, each made when it is first asked for. */
struct block_works {
	const struct trace *trace;
	struct block_work *work;
};

void block_works_init(struct block_works *all, const struct trace *t);
void block_works_release(struct block_works *all);

/* Make the work of @b, a block of the trace. */
void block_works_make(struct block_works *all, const struct trace_block *b);

/* The work of @b, a block of the trace. */
static inline const struct block_work *block_works_of(
	struct block_works *all, const struct trace_block *b)
{
	const struct block_work *w = &all->work[b - all->trace->block];

	if (!w->step)
		block_works_make(all, b);
	return w;
}

#endif
