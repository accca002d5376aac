/* SPDX-License-Identifier: MIT */
/*
 * load_ratio - a loop with one load among a known number of instructions
 *
 * Load-Ratio of M. A. Sasongko's thesis (2022, section 4.3.1 and appendix A): a
 * load, three instructions that count, and for lower ratios others that access
 * no memory. A profiler that samples every Nth load must find one sample per N
 * iterations at the load, whatever the ratio.
 */
#include "precise.h"

static long ratio = 4;

#ifdef __SANITIZE_THREAD__
static void load(uint64_t n, char *words)
{
	volatile int *word = (volatile int *)words;

	while (n--)
		(void)*word;
}

#define RATIO(n, others)                                                       \
	{                                                                      \
		n, load, NULL, NULL                                            \
	}
#else
#define LOOP(n, others)                                                        \
	extern code_label load_##n __asm__(".Lload_" #n);                      \
	extern code_label after_##n __asm__(".Lafter_" #n);                    \
	PRECISE_LOOP(loop_##n, ".p2align 4\n"                                  \
			       "1:\n"                                          \
			       ".Lload_" #n ":\n"                              \
			       "movl (%rsi), %eax\n"                           \
			       ".Lafter_" #n ":\n"                             \
			       ".rept " #others "\n"                           \
			       "movl $1, %edx\n"                               \
			       ".endr\n" PRECISE_NEXT)

LOOP(4, 0)
LOOP(5, 1)
LOOP(6, 2)
LOOP(8, 4)
LOOP(10, 6)
LOOP(12, 8)
LOOP(16, 12)
LOOP(20, 16)
LOOP(32, 28)
LOOP(64, 60)

#define RATIO(n, others)                                                       \
	{                                                                      \
		n, loop_##n, load_##n, after_##n                               \
	}
#endif

static const struct {
	long ratio;
	void (*loop)(uint64_t n, char *words);
	const char *low, *high;
} ratios[] = {
	RATIO(4, 0),   RATIO(5, 1),   RATIO(6, 2),   RATIO(8, 4),
	RATIO(10, 6),  RATIO(12, 8),  RATIO(16, 12), RATIO(20, 16),
	RATIO(32, 28), RATIO(64, 60),
};

int main(int argc, char **argv)
{
	static const struct option_row rows[] = {
		{ "ratio", OPT_LONG, &ratio,
		  "instructions to a load: 4 to 64, see below" },
		COMMON_ROWS,
		{ 0 },
	};
	struct precise p = {
		.benchmark = "load_ratio",
		.what = "one load an iteration",
		.sites = 1,
	};
	size_t i = 0, n = sizeof(ratios) / sizeof(ratios[0]);

	opt.threads = 1;
	parse_options(argc, argv,
		      "One load among 4, 5, 6, 8, 10, 12, 16, 20, 32 or 64 "
		      "instructions.",
		      rows);
	while (i < n && ratios[i].ratio != ratio)
		i++;
	if (i == n)
		usage_error("there is no loop with a load among %ld", ratio);
	p.loop = ratios[i].loop;
	p.instructions = (uint64_t)ratio;
	p.site[0] = (struct precise_site){ "load", "load", ratios[i].low,
					   ratios[i].high, 0 };
	return precise_main(&p);
}
