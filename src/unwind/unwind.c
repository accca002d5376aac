/* SPDX-License-Identifier: MIT */
/*
 * unwind - the calls that led to where a thread is
 */
#include <errno.h>

#include "unwind.h"
#include "cfi.h"
#include "expression.h"
#include "last_walk.h"
#include "row_cache.h"

#include "src/base/signal_safe.h"

enum {
	WORD = 8,
	RULES_FETCH = 256,
	STACK_FETCH = 1024,
	SWITCHES_MAX = 8, /* to a stack that lies lower */
	POINTER_FRAME_MAX = 1 << 20,
	CODE_LOW = 4096, /* no code lies on the first page */
};

struct state {
	const struct unwind_space *space;
	struct unwind_registers *regs;
	struct reader stack, rules;
	bool interrupted;  /* here, and not in a call */
	bool described;    /* the object here has rules */
	uint64_t identity; /* of that object */
	unsigned switches;
	unsigned n; /* frames */
};

/* An instruction of the frame, to look it up: a call may end its function. */
static uint64_t place(const struct state *s)
{
	return s->regs->value[FRAME_PC] - !s->interrupted;
}

/* Returns UNWIND_FULL, which stands for none of the ends. */
static enum unwind_end row_at(struct state *s, uint64_t pc, struct cfi_row *row)
{
	const struct unwind_space *space = s->space;
	struct unwind_module m;

	if (!space->find(space->find_ctx, pc, &m))
		return UNWIND_NO_CODE;
	s->described = m.index;
	s->identity = m.identity;
	if (space->rows && row_cache_find(space->rows, pc, m.identity, row))
		return UNWIND_FULL;
	reader_direct(&s->rules, space->lasting, m.index);
	switch (cfi_find(&s->rules, &m, pc, row)) {
	case 0:
		break;
	case -ENOENT:
		return UNWIND_NO_RULE;
	default:
		return UNWIND_BAD_RULE;
	}
	if (space->rows)
		row_cache_put(space->rows, pc, m.identity, row);
	return UNWIND_FULL;
}

static enum unwind_end cfa_of(struct state *s, const struct cfi_row *row,
			      uint64_t *cfa)
{
	const struct cfi_where *w = &row->cfa;

	if (w->rule == RULE_VAL_EXPRESSION)
		return expression_value(cfi_expression(&s->rules, row, w),
					s->regs, &s->stack, NULL, cfa)
			       ? UNWIND_BAD_RULE
			       : UNWIND_FULL;
	if (!register_known(s->regs, w->base))
		return UNWIND_BAD_RULE;
	*cfa = s->regs->value[w->base] + (uint64_t)(int64_t)w->value;
	return UNWIND_FULL;
}

/* Register @n of the caller, in @out if it can be known. */
static void recover(struct state *s, const struct cfi_row *row, unsigned n,
		    uint64_t cfa, struct unwind_registers *out)
{
	const struct cfi_where *w = &row->reg[n];
	uint64_t v = cfa + (uint64_t)(int64_t)w->value;

	switch (w->rule) {
	case RULE_SAME:
		if (!register_known(s->regs, n) ||
		    (!row->signal && !register_is_kept(n)))
			return;
		v = s->regs->value[n];
		break;
	case RULE_OFFSET:
		if (reader_copy(&s->stack, v, &v, WORD))
			return;
		break;
	case RULE_VAL_OFFSET:
		break;
	case RULE_REGISTER:
		if (w->value < 0 ||
		    !register_known(s->regs, (unsigned)w->value))
			return;
		v = s->regs->value[w->value];
		break;
	case RULE_EXPRESSION:
	case RULE_VAL_EXPRESSION:
		if (expression_value(cfi_expression(&s->rules, row, w), s->regs,
				     &s->stack, &cfa, &v))
			return;
		if (w->rule == RULE_EXPRESSION &&
		    reader_copy(&s->stack, v, &v, WORD))
			return;
		break;
	default:
		return;
	}
	register_set(out, n, v);
}

/* The frame's caller may use another stack, but not for ever. */
static bool leads_outward(struct state *s, uint64_t cfa, bool signal)
{
	if (cfa > s->regs->value[FRAME_RSP] || signal)
		return true;
	return s->switches++ < SWITCHES_MAX;
}

static void keep(const struct state *s, const struct cfi_row *row, uint64_t cfa)
{
	if (s->space->last && !s->interrupted)
		last_walk_note(s->space->last, s->n - 1, row, s->identity, cfa,
			       s->regs);
}

static enum unwind_end by_rules(struct state *s)
{
	struct unwind_registers caller = { .known = 0 };
	struct cfi_row row;
	uint64_t cfa;
	enum unwind_end end = row_at(s, place(s), &row);

	if (end != UNWIND_FULL)
		return end;
	if (row.reg[FRAME_PC].rule == RULE_UNDEFINED) {
		keep(s, &row, 0);
		return UNWIND_START;
	}
	end = cfa_of(s, &row, &cfa);
	if (end != UNWIND_FULL)
		return end;
	if (!leads_outward(s, cfa, row.signal))
		return UNWIND_LOOP;
	for (unsigned n = 0; n < UNWIND_REGISTERS; n++)
		if (n != FRAME_RSP || row.reg[n].rule != RULE_SAME)
			recover(s, &row, n, cfa, &caller);
	if (row.reg[FRAME_RSP].rule == RULE_SAME)
		register_set(&caller, FRAME_RSP, cfa);
	if (!register_known(&caller, FRAME_PC) ||
	    !register_known(&caller, FRAME_RSP))
		return UNWIND_UNREADABLE;
	keep(s, &row, cfa);
	*s->regs = caller;
	s->interrupted = row.signal;
	return UNWIND_FULL;
}

/*
 * A function that begins with push %rbp; mov %rsp, %rbp. With @guessed its
 * callee did so too.
 */
static enum unwind_end by_pointer(struct state *s, enum unwind_end otherwise,
				  bool guessed)
{
	struct unwind_registers caller = { .known = 0 };
	uint64_t rsp = s->regs->value[FRAME_RSP], saved[2];
	uint64_t rbp = s->regs->value[FRAME_RBP];
	uint8_t code;

	/*
	 * The ABI marks the outermost frame of a process so; ld.so's has no
	 * rule. Elsewhere %rbp may hold anything.
	 */
	if (otherwise == UNWIND_NO_RULE && register_known(s->regs, FRAME_RBP) &&
	    !rbp && (s->described || guessed))
		return UNWIND_START;
	if (!register_known(s->regs, FRAME_RBP) || rbp % WORD || rbp < rsp ||
	    rbp - rsp > POINTER_FRAME_MAX ||
	    reader_copy(&s->stack, rbp, saved, sizeof(saved)))
		return otherwise;
	if (saved[1] < CODE_LOW ||
	    s->space->memory.read(s->space->memory.ctx, saved[1] - 1, &code, 1))
		return otherwise;
	register_set(&caller, FRAME_RBP, saved[0]);
	register_set(&caller, FRAME_RSP, rbp + sizeof(saved));
	register_set(&caller, FRAME_PC, saved[1]);
	*s->regs = caller;
	s->interrupted = false;
	return UNWIND_FULL;
}

/* The frame that was added was met before, and so is the rest of its path. */
static bool met_again(struct state *s, struct unwind_frame *frame, unsigned max)
{
	struct last_walk *last = s->space->last;
	const struct unwind_frame *here = &frame[s->n - 1];
	unsigned to;

	if (!last)
		return false;
	last_walk_add(last, s->n - 1, here);
	if (s->interrupted || here->guessed)
		return false;
	to = last_walk_meet(last, s->space, &s->stack, s->regs, frame, s->n,
			    max);
	if (to)
		s->n = to;
	return to;
}

static enum unwind_end walk(struct state *s, struct unwind_frame *frame,
			    unsigned max)
{
	bool guessed = false;
	enum unwind_end end = UNWIND_FULL;

	while (s->n < max && end == UNWIND_FULL) {
		if (!s->regs->value[FRAME_PC] && s->n)
			return UNWIND_START;
		frame[s->n++] = (struct unwind_frame){
			.ip = place(s),
			.sp = s->regs->value[FRAME_RSP],
			.guessed = guessed,
		};
		if (met_again(s, frame, max))
			return UNWIND_START;
		end = by_rules(s);
		guessed = end == UNWIND_NO_CODE || end == UNWIND_NO_RULE;
		if (guessed)
			end = by_pointer(s, end, frame[s->n - 1].guessed);
	}
	return end;
}

unsigned unwind_frames(const struct unwind_space *space,
		       struct unwind_registers *regs,
		       struct unwind_frame *frame, unsigned max,
		       enum unwind_end *end)
{
	struct state s;

	s.space = space;
	s.regs = regs;
	s.interrupted = true;
	s.described = false;
	s.switches = 0;
	s.n = 0;
	reader_begin(&s.stack, &space->memory, STACK_FETCH);
	reader_begin(&s.rules, &space->memory, RULES_FETCH);
	if (space->last)
		last_walk_begin(space->last);
	*end = walk(&s, frame, max);
	if (space->last)
		last_walk_end(space->last, s.n, *end == UNWIND_START);
	return s.n;
}

bool unwind_function(const struct unwind_space *space, uint64_t pc,
		     uint64_t *start)
{
	struct unwind_module m;
	struct reader rules;
	struct cfi_row row;

	reader_begin(&rules, &space->memory, RULES_FETCH);
	if (!space->find(space->find_ctx, pc, &m))
		return false;
	reader_direct(&rules, space->lasting, m.index);
	if (cfi_find(&rules, &m, pc, &row))
		return false;
	*start = row.start;
	return true;
}
