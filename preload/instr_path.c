/* SPDX-License-Identifier: MIT */
/*
 * instr_path - the calls that led to an access, from the frames that hooks keep
 */
#include <stdbool.h>

#include "instr_path.h"
#include "signal_safe.h"

enum {
	LOOK_BYTES = 16 * 1024, /* beyond that nothing is told */
};

/* Is the one on the same stack as the other and below it? */
static bool is_below(uint64_t sp, uint64_t other)
{
	return other - sp - 1 < INSTR_STACK_MAX;
}

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
 * Does @word lie from @low to below @high? Mostly just below. True also where
 * there is no telling.
 */
static bool lies_between(struct instr_stack *s, uint64_t word, uint64_t low,
			 uint64_t high)
{
	uint64_t addr = high & -sizeof(word);

	while (addr >= low + sizeof(word)) {
		uint64_t in_page;

		addr -= sizeof(word);
		in_page = addr % INSTR_STACK_PAGE;
		if (high - addr > LOOK_BYTES || !has_page(s, addr - in_page) ||
		    s->word[in_page / sizeof(word)] == word)
			return true;
	}
	return false;
}

/* Leave the active frames at the end of the @n, return how many they are. */
static uint32_t sort_out(struct instr_frame *frame, uint32_t n, uint64_t sp,
			 struct instr_stack *stack)
{
	uint32_t inner;

	while (n && is_below(frame[n - 1].sp, sp))
		n--;
	if (!n)
		return 0;
	inner = n - 1;
	for (uint32_t i = inner; i--;) {
		const struct instr_frame *f = &frame[inner];

		if (!is_below(f->sp, frame[i].sp) ||
		    lies_between(stack, f->caller, f->sp, frame[i].sp))
			frame[--inner] = frame[i];
	}
	for (uint32_t i = inner; i < n; i++)
		frame[i - inner] = frame[i];
	return n - inner;
}

static uint32_t find_entry(const struct instr_frame *frame, uint32_t n,
			   uint64_t entry)
{
	uint32_t i = 0;

	while (i < n && frame[i].entry != entry)
		i++;
	return i;
}

uint32_t instr_path(struct instr_frame *frame, uint32_t n, uint64_t sp,
		    struct instr_stack *stack, struct path_call *call)
{
	uint32_t active, calls = 0;

	stack->page = 0; /* it has changed */
	active = sort_out(frame, n, sp, stack);
	for (uint32_t i = 0; i < active; i++) {
		uint32_t k = find_entry(frame, calls, frame[i].entry);

		if (k < calls) {
			call[k].recurs = true;
			calls = k + 1;
			continue;
		}
		frame[calls] = frame[i];
		call[calls++] = (struct path_call){
			.ip = frame[i].caller - 1, /* in the call */
		};
	}
	return calls;
}
