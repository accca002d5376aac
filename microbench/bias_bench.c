/* SPDX-License-Identifier: MIT */
/*
 * bias_bench - a loop of four loads, each of which must get 25 % of samples
 *
 * Bias-Bench of M. A. Sasongko's thesis (2022, section 4.3.3 and appendix A).
 * The three other instructions access nothing: a sample there names a wrong
 * instruction. All loads read one word, except in a build with hooks, where
 * each has its own word so that they can be told apart.
 */
#include "precise.h"

enum {
	LOADS = 4,
};

#ifdef __SANITIZE_THREAD__
static void loop(uint64_t n, char *words)
{
	volatile int *word[LOADS];

	for (int i = 0; i < LOADS; i++)
		word[i] = (volatile int *)(words + i * WORD_APART);
	while (n--) {
		(void)*word[0];
		(void)*word[1];
		(void)*word[2];
		(void)*word[3];
	}
}

#define SITE(name, event, n)                                                   \
	{                                                                      \
		name, event, NULL, NULL, n                                     \
	}
#else
extern code_label at_0 __asm__(".Lload_1"), at_1 __asm__(".Lload_2");
extern code_label at_2 __asm__(".Lload_3"), at_3 __asm__(".Lload_4");
extern code_label at_4 __asm__(".Lsubq"), at_5 __asm__(".Lcmpq");
extern code_label at_6 __asm__(".Ljne"), at_7 __asm__(".Lend");

PRECISE_LOOP(loop, ".p2align 4\n"
		   "1:\n"
		   ".Lload_1: movl (%rsi), %eax\n"
		   ".Lload_2: movl (%rsi), %eax\n"
		   ".Lload_3: movl (%rsi), %eax\n"
		   ".Lload_4: movl (%rsi), %eax\n"
		   ".Lsubq: subq $1, %rdi\n"
		   ".Lcmpq: cmpq $0, %rdi\n"
		   ".Ljne: jne 1b\n"
		   ".Lend:\n")

#define SITE_OF(name, event, n, next)                                          \
	{                                                                      \
		name, event, at_##n, at_##next, 0                              \
	}
#define SITE(name, event, n) SITE_##n(name, event)
#define SITE_0(name, event)  SITE_OF(name, event, 0, 1)
#define SITE_1(name, event)  SITE_OF(name, event, 1, 2)
#define SITE_2(name, event)  SITE_OF(name, event, 2, 3)
#define SITE_3(name, event)  SITE_OF(name, event, 3, 4)
#endif

int main(int argc, char **argv)
{
	static const struct option_row rows[] = {
		COMMON_ROWS,
		{ 0 },
	};
	struct precise p = {
		.benchmark = "bias_bench",
		.what = "four loads an iteration",
		.loop = loop,
		.instructions = LOADS + 3,
		.site = {
			SITE("load 1", "load", 0),
			SITE("load 2", "load", 1),
			SITE("load 3", "load", 2),
			SITE("load 4", "load", 3),
#ifndef __SANITIZE_THREAD__
			SITE_OF("subq", "none", 4, 5),
			SITE_OF("cmpq", "none", 5, 6),
			SITE_OF("jne", "none", 6, 7),
#endif
		},
		.sites = LOADS,
	};

	opt.threads = 1;
	if (p.site[LOADS].name)
		p.sites = LOADS + 3;
	parse_options(argc, argv, "Four loads among 7 instructions.", rows);
	return precise_main(&p);
}
