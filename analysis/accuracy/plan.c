/* SPDX-License-Identifier: MIT */
/*
 * plan - trials with their defaults, and figures that the suites share
 */
#include "plan.h"
#include "analysis/base/util.h"

#define WORST_LONG 0.25 /* for bursts of 1000 */

const char accuracy_sockets[] = "text:socket 0;socket 1;core 0-15 in socket 0;"
				"core 16-31 in socket 1";

/*
 * A run is longer where few stores are transfers, or where there are many
 * lines, so that chance stays within a third of the bound.
 */
const struct accuracy_pattern accuracy_patterns[ACCURACY_PATTERNS] = {
	{ "bursts of 10", "--pattern bursts --burst 10", 3.6, ACCURACY_WORST,
	  200e6, 16e6 },
	{ "bursts of 100", "--pattern bursts --burst 100", 3.6, ACCURACY_WORST,
	  400e6, 0 },
	{ "bursts of 1000", "--pattern bursts --burst 1000", 3.6, WORST_LONG,
	  1000e6, 0 },
	{ "ring buffer", "--pattern ring", 24, ACCURACY_WORST, 300e6, 16e6 },
	{ "lock and data", "--pattern lock", 3, ACCURACY_WORST, 300e6, 0 },
	{ "100,000 lines", "--pattern lines", 2.85, ACCURACY_WORST, 1000e6, 0 },
	{ "read-mostly", "--pattern read-mostly", 1.9, ACCURACY_WORST, 300e6,
	  0 },
	{ "eight counters", "--pattern counters", 2.9, ACCURACY_WORST, 200e6,
	  ACCURACY_SHORT },
	{ "99.9 % private", "--pattern private", 2.9, 0, 100e6, 0 },
};

struct accuracy_trial *accuracy_plan(struct accuracy *all, const char *suite,
				     const char *program, uint32_t threads,
				     double accesses, double an_iteration,
				     const char *options)
{
	double iterations = accesses / an_iteration / threads;
	struct accuracy_trial *t;
	size_t number;

	all->trial = grow(all->trial, all->trials, &all->trials_room,
			  sizeof(*all->trial));
	t = &all->trial[all->trials++];
	number = all->trials - all->suite_first;
	*t = (struct accuracy_trial){
		.suite = suite,
		.program = program,
		.threads = threads,
		.algorithm = "chain",
		.period = ACCURACY_PERIOD,
		.slice = all->slice,
		.seed = number,
		.registers = ACCURACY_REGISTERS,
		.board = ACCURACY_BOARD,
	};
	t->arguments = xasprintf("--threads %u --iterations %.0f --seed %zu %s",
				 threads, iterations + 1, number, options);
	return t;
}
