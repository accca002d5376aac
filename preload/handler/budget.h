/* SPDX-License-Identifier: MIT */
/*
 * budget - how much of a thread's time our handler may take
 *
 * Time in the handler is a debt, 1/HANDLER_SHARE of all time pays for it, and
 * who owes too much is not sampled. What counts is CPU time: a thread that
 * loses its core in the handler has taken nothing meanwhile. To ask for CPU
 * time is a system call, so it is asked only at the handler's begin, and at its
 * end where the wall time is more than the handler's share of a period.
 */
#ifndef COMDET_PRELOAD_SIGNAL_BUDGET_H
#define COMDET_PRELOAD_SIGNAL_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HANDLER_SHARE = 8, /* at most 1/8 of a thread's time in the handler */
};

/* May a handler of @wall ns of wall time have cost less CPU time? */
static inline bool budget_must_ask(uint64_t wall, uint64_t period)
{
	return wall > period / HANDLER_SHARE;
}

/*
 * The debt after a handler of @ns. One handler counts as a period at most: a
 * machine that is virtual may lose its core too, unseen.
 */
static inline int64_t budget_charge(int64_t debt, uint64_t ns, uint64_t period)
{
	return debt + (int64_t)(ns < period ? ns : period);
}

/* The debt when @ns have passed. */
static inline int64_t budget_pay(int64_t debt, uint64_t ns)
{
	debt -= (int64_t)(ns / HANDLER_SHARE);
	return debt > 0 ? debt : 0;
}

static inline bool budget_is_spent(int64_t debt, uint64_t period)
{
	return debt > (int64_t)period;
}

#endif
