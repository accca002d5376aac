/* SPDX-License-Identifier: MIT */
/*
 * locked_load - a loop with one locked addition
 *
 * Locked-Load of M. A. Sasongko's thesis (2022, section 4.3.2 and appendix A).
 * No other code executes locked operations often, so samples can be compared
 * with their number even at the smallest sampling interval. Each thread has a
 * word of its own.
 */
#include "precise.h"

#ifdef __SANITIZE_THREAD__
static void loop(uint64_t n, char *words)
{
	while (n--)
		__atomic_fetch_add((int *)words, 1, __ATOMIC_SEQ_CST);
}

#define LOW  NULL
#define HIGH NULL
#else
extern code_label low __asm__(".Llock");
extern code_label high __asm__(".Lafter");

PRECISE_LOOP(loop, ".p2align 4\n"
		   "1:\n"
		   ".Llock:\n"
		   "lock addl $1, (%rsi)\n"
		   ".Lafter:\n" PRECISE_NEXT)

#define LOW  low
#define HIGH high
#endif

int main(int argc, char **argv)
{
	static const struct option_row rows[] = {
		COMMON_ROWS,
		{ 0 },
	};
	struct precise p = {
		.benchmark = "locked_load",
		.what = "one locked addition an iteration",
		.loop = loop,
		.instructions = 4,
		.site = { { "lock", "locked", LOW, HIGH, 0 } },
		.sites = 1,
	};

	opt.threads = 1;
	parse_options(argc, argv, "One locked addition among 4 instructions.",
		      rows);
	return precise_main(&p);
}
