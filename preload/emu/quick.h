/* SPDX-License-Identifier: MIT */
/*
 * quick - a trace for a profile: most of it says only which lines are used
 *
 * A thread is traced whole for some thousand instructions, then quickly for
 * many more: then the trace has how many instructions and accesses there were,
 * and the uses of lines that can be hits or misses in a cache. It has no use of
 * a line that the thread used a moment ago, if no other thread did since.
 *
 * A moment: each thread keeps a table of lines of data that it uses, and one of
 * code, each of which is emptied after QUICK_LINES uses of it in the trace. So
 * the order of a thread's latest uses is wrong by at most that many lines, in
 * all sets of a cache together.
 *
 * Others: a table for all threads has who used a line, and whether it was
 * stored to. When a line goes from one thread to another, it leaves the table
 * of the first; and if it came only a moment before, each use of it is in the
 * trace until it stays with a thread. Threads take turns, so these tables need
 * no lock; with slice=free a use may be missing.
 */
#ifndef COMDET_PRELOAD_EMU_QUICK_H
#define COMDET_PRELOAD_EMU_QUICK_H

#include <stdbool.h>
#include <stdint.h>

#include "state.h"
#include "src/base/rng.h"
#include "src/trace/trace_format.h"

struct trace_block;
struct trace_thread;

enum {
	QUICK_LINES = 256,
};

struct quick_thread {
	/*
	 * Used for each block and access. The budget is what the thread may do
	 * before it has to look whether its turn or the part ends: an
	 * instruction takes 1, an access EMU_TURN_ACCESS. Its turn and what is
	 * left of the part follow from that when it is settled.
	 */
	int64_t budget;
	uint64_t accesses; /* since the latest token of this kind */
	int64_t granted;   /* the budget that it was given */
	uint64_t settled; /* accesses that its turn and the part have already */

	int64_t left;  /* instructions until it ends, or begins */
	int64_t told;  /* told - left: instructions that no token has yet */
	uint64_t line; /* of the latest use in the trace */
	bool on;
	struct rng rng; /* of the instructions from beginning to beginning */

	/* Lines that it used, and uses in the trace since they were emptied. */
	uint64_t data[QUICK_LINES]; /* line << 1, + 1 if it stored to it */
	uint64_t code[QUICK_LINES]; /* line */
	uint32_t data_sent, code_sent;
};

/* The place of @line in a thread's tables. */
static inline uint32_t quick_place(uint64_t line)
{
	return (uint32_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}
_Static_assert(QUICK_LINES == 1 << (64 - 56), "quick_place has all places");

/* True if a use of @line says nothing new. */
static inline bool quick_knows(const struct quick_thread *q, uint64_t line,
			       bool store)
{
	return (q->data[quick_place(line)] | !store) == (line << 1 | 1);
}

/*
 * Context of all: the thread itself; at the program's end also the one that
 * ends it, while the others wait.
 */

/*
 * If the thread is in a quick part: bring its turn and the part up to date, and
 * leave no budget, so that the next block or access looks at them.
 */
static inline void emu_quick_settle(struct vcpu *v)
{
	struct quick_thread *q = v->quick;
	int64_t spent, accesses;

	if (!q)
		return;
	spent = q->granted - q->budget;
	accesses = (int64_t)(q->accesses - q->settled);
	v->turn -= spent;
	q->left -= spent - accesses * EMU_TURN_ACCESS;
	q->settled = q->accesses;
	q->granted = q->budget = 0;
}

/* It is settled, and may go on. */
static inline void emu_quick_grant(struct vcpu *v)
{
	struct quick_thread *q = v->quick;

	if (q)
		q->granted = q->budget = v->turn < q->left ? v->turn : q->left;
}

/* Make the tables. Context: set-up. Returns 0 or -ENOMEM. */
int emu_quick_open(void);

/* @v has a trace, which is whole at first. */
void emu_quick_start(struct vcpu *v);

/* In the next ones: the thread is settled. */

/* The thread uses a line of data that its table does not know. */
void emu_quick_use(struct vcpu *v, uint64_t line, bool store);

/* It has executed @b, of whose lines its table may lack some, quickly. */
void emu_quick_fetch(struct trace_thread *t, const struct trace_block *b);

/* The trace becomes whole, or quick, before the block at @ip. */
void emu_quick_change(struct trace_thread *t, uint64_t ip);

/* Put how many instructions there were since the latest token. */
void emu_quick_pass(struct trace_thread *t);

#endif
