/* SPDX-License-Identifier: MIT */
/*
 * path - the calls that led to an access, from the frames that hooks keep
 */
#include "path.h"
#include "src/base/signal_safe.h"

enum {
	PAGES_MAX = 64,   /* read for one path */
	LINK_BYTES = 256, /* most between the frames of two functions if one
			     calls the other directly: arguments */
};

enum verdict {
	ACTIVE,
	INACTIVE,
	UNKNOWN
};

static bool has_page(struct instr_stack *s, uint64_t page)
{
	if (s->page == page)
		return true;
	s->page = 0;
	if (s->read(s->ctx, page, s->word, sizeof(s->word)))
		return false;
	s->page = page;
	return true;
}

/*
 * Tell whether @f is active: then its return address is on the stack, and *@end
 * is where its frame ends. May read *@pages more pages.
 */
static enum verdict look(struct instr_stack *s, const struct instr_frame *f,
			 uint32_t *pages, uint64_t *end)
{
	uint64_t addr = (f->sp + 7) & ~UINT64_C(7);

	for (;; addr += sizeof(uint64_t)) {
		uint64_t in_page = addr % INSTR_STACK_PAGE;

		if (s->page != addr - in_page && !(*pages)--) {
			*pages = 0;
			return UNKNOWN;
		}
		if (!has_page(s, addr - in_page))
			return INACTIVE;
		if (s->word[in_page / sizeof(uint64_t)] == f->caller) {
			*end = addr + sizeof(uint64_t);
			return ACTIVE;
		}
	}
}

static bool is_own(const struct instr_stack *s, uint64_t sp)
{
	return sp - s->bounds.low < s->bounds.bytes;
}

/*
 * The innermost frame, of all copies, that is not below @low and is on the same
 * stack as far as we can tell; NULL if there is none. Frames that it passes
 * over are dropped.
 */
static const struct instr_frame *next(const struct instr_stack *s,
				      struct instr_frames *copy,
				      uint32_t copies, uint64_t low, bool own)
{
	struct instr_frames *best = NULL;

	for (uint32_t i = 0; i < copies; i++) {
		struct instr_frames *c = &copy[i];

		while (c->n &&
		       (c->frame[c->n - 1].sp - low >= INSTR_STACK_MAX ||
			is_own(s, c->frame[c->n - 1].sp) != own))
			c->n--;
		if (c->n && (!best || c->frame[c->n - 1].sp <
					      best->frame[best->n - 1].sp))
			best = c;
	}
	return best ? &best->frame[--best->n] : NULL;
}

/*
 * Put the active functions into p->frame, innermost first. Returns their
 * number.
 */
static uint32_t sort_out(struct instr_path *p, struct instr_frames *copy,
			 uint32_t copies, uint64_t sp)
{
	struct instr_stack *s = &p->stack;
	bool own = is_own(s, sp);
	uint32_t n = 0, pages = PAGES_MAX;
	const struct instr_frame *f;
	uint64_t low = sp;

	p->is_cut = !has_page(s, sp & -(uint64_t)INSTR_STACK_PAGE);
	if (p->is_cut)
		return 0;
	while ((f = next(s, copy, copies, low, own))) {
		enum verdict v;

		if (!own && f->sp - low > LINK_BYTES) {
			p->is_cut = !s->bounds.bytes; /* without bounds, this
							 stack may be the
							 thread's own */
			break;
		}
		v = look(s, f, &pages, &low);
		if (v == INACTIVE)
			continue;
		p->is_cut = v == UNKNOWN || n == INSTR_PATH_MAX;
		if (p->is_cut)
			break;
		p->frame[n++] = *f;
	}
	return n;
}

static uint32_t find_entry(const struct instr_frame *frame, uint32_t n,
			   uint64_t entry)
{
	uint32_t i = 0;

	while (i < n && frame[i].entry != entry)
		i++;
	return i;
}

static void swap(struct instr_frame *x, struct instr_frame *y)
{
	struct instr_frame z = *x;

	*x = *y;
	*y = z;
}

void instr_path_find(struct instr_path *p, struct instr_frames *copy,
		     uint32_t copies, uint64_t sp)
{
	uint32_t n, calls = 0;

	p->stack.page = 0; /* its content is old */
	n = sort_out(p, copy, copies, sp);
	for (uint32_t i = 0; i < n / 2; i++)
		swap(&p->frame[i], &p->frame[n - 1 - i]);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = find_entry(p->frame, calls, p->frame[i].entry);

		if (k < calls) {
			p->call[k].recurs = true;
			calls = k + 1;
			continue;
		}
		p->frame[calls] = p->frame[i];
		p->call[calls++] = (struct path_call){
			.ip = p->frame[i].caller -
			      1, /* the call, not the instruction after it */
		};
	}
	p->calls = calls;
}
