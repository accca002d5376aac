/* SPDX-License-Identifier: MIT */
/*
 * multi_event - a loop of loads, stores, branches, returns and locked loads
 *
 * Multi-Event of M. A. Sasongko's thesis (2022, section 4.3.6, appendix A). An
 * iteration has two locked additions, a load, a call and a return, which store
 * to the stack and load from it, and two conditional branches, one of them
 * taken. Events are counted by what they do: loads are the plain load and the
 * return's, stores the call's; a locked addition does both and counts as
 * locked.
 */
#include "precise.h"

#ifdef __SANITIZE_THREAD__
static void loop(uint64_t n, char *words)
{
	volatile int *word = (volatile int *)(words + 2 * WORD_APART);

	while (n--) {
		__atomic_fetch_add((int *)words, 1, __ATOMIC_SEQ_CST);
		__atomic_fetch_add((int *)(words + WORD_APART), 1,
				   __ATOMIC_SEQ_CST);
		(void)*word;
	}
}

/* The hooks do not see call and return. */
#define SITES 3
#define SITE(name, event, n, next)                                             \
	{                                                                      \
		name, event, NULL, NULL, n                                     \
	}
#else
extern code_label at_0 __asm__(".Llock_1"), at_1 __asm__(".Llock_2");
extern code_label at_2 __asm__(".Lload"), at_3 __asm__(".Lcount");
extern code_label at_4 __asm__(".Lcall"), at_5 __asm__(".Lret");
extern code_label at_6 __asm__(".Lend");

PRECISE_LOOP(loop, ".p2align 4\n"
		   "1:\n"
		   ".Lcall: call .Lret\n"
		   ".Llock_1: lock addl $1, (%rsi)\n"
		   ".Llock_2: lock addl $1, (%rsi)\n"
		   ".Lload: movl (%rsi), %eax\n"
		   ".Lcount: subq $1, %rdi\n"
		   "cmpq $0, %rdi\n"
		   "je 2f\n"
		   "cmpq $0, %rdi\n"
		   "jne 1b\n"
		   "2: ret\n"
		   ".Lret: ret\n"
		   ".Lend:\n")

#define SITES 5
#define SITE(name, event, n, next)                                             \
	{                                                                      \
		name, event, at_##n, at_##next, 0                              \
	}
#endif

int main(int argc, char **argv)
{
	static const struct option_row rows[] = {
		COMMON_ROWS,
		{ 0 },
	};
	struct precise p = {
		.benchmark = "multi_event",
		.what = "two locked additions, a load, a call, a return",
		.loop = loop,
		.instructions = 10,
		.site = {
			SITE("lock 1", "locked", 0, 1),
			SITE("lock 2", "locked", 1, 2),
			SITE("load", "load", 2, 3),
#ifndef __SANITIZE_THREAD__
			{ "call", "call", at_4, at_0, 0 },
			SITE("ret", "ret", 5, 6),
#endif
		},
		.sites = SITES,
		.branches = 4,
		.branches_taken = 3,
	};

	opt.threads = 1;
	parse_options(argc, argv,
		      "Loads, stores, branches, returns and locked loads.",
		      rows);
	return precise_main(&p);
}
