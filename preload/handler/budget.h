/* SPDX-License-Identifier: MIT */
/*
 * budget - how much of a thread's time our handler may take
 *
 * Handler time is a debt, and 1/HANDLER_SHARE of the thread's time pays it off.
 * Threads whose debt is too high are skipped until they have paid it back. The
 * debt counts CPU time: a thread that loses its core in the handler uses no
 * time meanwhile. Reading CPU time is a system call, so we read it when the
 * handler begins, and again only if the wall time exceeds the handler's share
 * of a period.
 */
#ifndef COMDET_PRELOAD_HANDLER_BUDGET_H
#define COMDET_PRELOAD_HANDLER_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HANDLER_SHARE = 8, /* at most 1/8 of a thread's time in the handler */
};

/* True if @wall ns of wall time must be checked against CPU time. */
static inline bool budget_must_ask(uint64_t wall, uint64_t period)
{
	return wall > period / HANDLER_SHARE;
}

/*
 * The debt after a handler of @ns. One handler counts as a period at most: a
 * virtual machine may lose its own core, and neither clock shows that.
 */
static inline int64_t budget_charge(int64_t debt, uint64_t ns, uint64_t period)
{
	return debt + (int64_t)(ns < period ? ns : period);
}

/*
 * The debt at CPU time @cpu; what has passed since @paid_at pays it off, however
 * many interrupts came or were lost meanwhile. A forked child's clock begins
 * anew.
 */
static inline int64_t budget_pay(int64_t debt, uint64_t *paid_at, uint64_t cpu)
{
	uint64_t ns = cpu > *paid_at ? cpu - *paid_at : 0;

	*paid_at = cpu;
	debt -= (int64_t)(ns / HANDLER_SHARE);
	return debt > 0 ? debt : 0;
}

static inline bool budget_is_spent(int64_t debt, uint64_t period)
{
	return debt > (int64_t)period;
}

#endif
