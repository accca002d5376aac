/* SPDX-License-Identifier: MIT */
/*
 * budget - how much of the machine the daemon may take
 *
 * A share of the CPU time of all processors is earned as time passes. What is
 * spent is our own CPU time, that of our children, and the time that targets
 * lose to our interrupts. A slice begins once what is left covers a slice like
 * the last one; so, but for the first, it is paid for before it is spent.
 */
#ifndef COMDET_ANALYSIS_DAEMON_BUDGET_H
#define COMDET_ANALYSIS_DAEMON_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct budget {
	double rate;           /* ns earned in a ns */
	double left;           /* ns; negative: owed */
	double expected;       /* ns that the next slice is expected to cost */
	uint64_t at;           /* ns, CLOCK_MONOTONIC */
	uint64_t began, spent; /* ns: when, and all so far */
};

/* @percent of @cpus processors from @now on. */
void budget_init(struct budget *b, double percent, int cpus, uint64_t now);

/* Until @now, @spent ns were spent in all. */
void budget_update(struct budget *b, uint64_t now, uint64_t spent);

/* A slice has cost @ns, and the next one is @times as long. */
void budget_learn(struct budget *b, uint64_t ns, double times);

/* In how many ns the next slice may begin, 0: now. */
uint64_t budget_wait(const struct budget *b);

/* Percent of @cpus processors that was spent so far. */
double budget_percent(const struct budget *b, int cpus);

#endif
