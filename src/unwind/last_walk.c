/* SPDX-License-Identifier: MIT */
/*
 * last_walk - the frames of a thread's last walk, to be met again
 */
#include <string.h>

#include "last_walk.h"

#include "src/base/signal_safe.h"

enum {
	WORD = 8,
};

void last_walk_use(struct last_walk *w, uint32_t user)
{
	if (w->user != user)
		w->frames[0] = w->frames[1] = 0;
	w->user = user;
}

void last_walk_begin(struct last_walk *w)
{
	w->now = !w->now;
	w->frames[w->now] = 0;
	w->seek = w->frames[!w->now] ? w->first[!w->now] : 0;
}

void last_walk_add(struct last_walk *w, unsigned i,
		   const struct unwind_frame *frame)
{
	struct walked_frame *f;

	if (i >= LAST_WALK_FRAMES)
		return;
	f = &w->frame[w->now][i];
	f->ip = frame->ip;
	f->sp = frame->sp;
	f->tag = 0;
	f->lasts = false;
}

void last_walk_note(struct last_walk *w, unsigned i, const struct cfi_row *row,
		    uint64_t identity, uint64_t cfa,
		    const struct unwind_registers *regs)
{
	const struct cfi_where *rbp = &row->reg[FRAME_RBP];
	const struct cfi_where *pc = &row->reg[FRAME_PC];
	struct walked_frame *f;

	if (i >= LAST_WALK_FRAMES)
		return;
	f = &w->frame[w->now][i];
	f->identity = identity;
	f->rbp = regs->value[FRAME_RBP];
	f->by_rbp = row->cfa.base == FRAME_RBP;
	f->pc_at = f->rbp_at = 0;
	if (pc->rule == RULE_UNDEFINED) {
		f->by_rbp = false;
		f->lasts = true;
		return;
	}
	if (row->signal || row->cfa.rule != RULE_VAL_OFFSET ||
	    (row->cfa.base != FRAME_RSP && row->cfa.base != FRAME_RBP) ||
	    row->reg[FRAME_RSP].rule != RULE_SAME || pc->rule != RULE_OFFSET ||
	    (rbp->rule != RULE_SAME && rbp->rule != RULE_OFFSET))
		return;
	f->pc_at = cfa + (uint64_t)(int64_t)pc->value;
	if (rbp->rule == RULE_OFFSET)
		f->rbp_at = cfa + (uint64_t)(int64_t)rbp->value;
	f->lasts = true;
}

static bool is_there(struct reader *stack, uint64_t at, uint64_t value)
{
	uint64_t word;

	return !reader_copy(stack, at, &word, WORD) && word == value;
}

/* The same object still lies where frame @f is; *@m is one that was found. */
static bool same_object(const struct unwind_space *space,
			const struct walked_frame *f, struct unwind_module *m)
{
	if ((f->ip < m->low || f->ip >= m->high) &&
	    !space->find(space->find_ctx, f->ip, m))
		return false;
	return m->identity == f->identity;
}

/*
 * Are the words that lead from frame @i of @f to the start those that were
 * kept? Returns the frame that is not as it was, or @n.
 */
static unsigned follow(const struct walked_frame *f, unsigned i, unsigned n,
		       const struct unwind_space *space, struct reader *stack)
{
	struct unwind_module m = { .low = 0, .high = 0 };

	for (; i < n; i++) {
		uint64_t pc = i + 1 < n ? f[i + 1].ip + 1 : 0;

		if (!same_object(space, &f[i], &m))
			return i;
		if (!f[i].pc_at)
			continue; /* the last one */
		if (!is_there(stack, f[i].pc_at, pc))
			return i;
		if (pc && f[i].rbp_at && f[i + 1].needs_rbp &&
		    !is_there(stack, f[i].rbp_at, f[i + 1].rbp))
			return i;
	}
	return n;
}

unsigned last_walk_meet(struct last_walk *w, const struct unwind_space *space,
			struct reader *stack,
			const struct unwind_registers *regs,
			struct unwind_frame *frame, unsigned n, unsigned max)
{
	const struct unwind_frame *here = &frame[n - 1];
	const struct walked_frame *f = w->frame[!w->now], *met;
	unsigned had = w->frames[!w->now], to;

	while (w->seek < had && f[w->seek].sp < here->sp)
		w->seek++;
	if (w->seek == had)
		return 0;
	met = &f[w->seek];
	if (met->sp != here->sp || met->ip != here->ip ||
	    (met->needs_rbp && (!register_known(regs, FRAME_RBP) ||
				regs->value[FRAME_RBP] != met->rbp)))
		return 0;
	to = n + (had - w->seek) - 1;
	if (to > max || to > LAST_WALK_FRAMES)
		return 0;
	w->seek = follow(f, w->seek, had, space, stack);
	if (w->seek < had) {
		w->seek++;
		return 0;
	}
	memcpy(&w->frame[w->now][n - 1], met, (to - n + 1) * sizeof(*met));
	for (; n < to; n++)
		frame[n] = (struct unwind_frame){ .ip = (++met)->ip,
						  .sp = met->sp };
	return to;
}

void last_walk_end(struct last_walk *w, unsigned n, bool whole)
{
	struct walked_frame *f = w->frame[w->now];
	bool needs_rbp = false;
	unsigned i = n;

	if (n > LAST_WALK_FRAMES)
		return;
	w->frames[w->now] = n;
	for (; whole && i && f[i - 1].lasts; i--) {
		needs_rbp = f[i - 1].by_rbp || (needs_rbp && !f[i - 1].rbp_at);
		f[i - 1].needs_rbp = needs_rbp;
	}
	w->first[w->now] = i;
}
