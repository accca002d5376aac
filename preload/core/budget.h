/* SPDX-License-Identifier: MIT */
/*
 * budget - how much of a thread's time our handler may take
 *
 * Handler time is a debt, and 1/HANDLER_SHARE of the thread's time pays it off.
 * Threads whose debt is too high are skipped until they have paid it back.
 *
 * The debt counts CPU time: a thread that loses its core in the handler uses no
 * time meanwhile. Reading CPU time is a system call, a tenth of a sample's
 * cost. So a handler reads it when it begins only if the debt must be paid, if
 * it was not read for STALE_NS, or if a handler was long a short while ago.
 * What the wall clock says is taken for CPU time up to the handler's share of a
 * period. Beyond it the time at the begin is needed. Where it was not read, the
 * debt is charged the wall time, and the next WATCHFUL handlers read their
 * time. Most likely the thread lost its core, so such a handler is reported as
 * a usual one.
 */
#ifndef COMDET_PRELOAD_CORE_BUDGET_H
#define COMDET_PRELOAD_CORE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

enum {
	HANDLER_SHARE = 8, /* at most 1/8 of a thread's time in the handler */
	WATCHFUL = 16,
	USUAL_SHARE = 8, /* of the last handler in what is usual */
	STALE_NS = 100 * 1000 * 1000,
};

struct budget {
	uint64_t debt_ns;  /* handler time beyond its share */
	uint64_t paid_at;  /* CPU time that has paid for the handler, ns */
	uint64_t read_at;  /* wall time when CPU time was read, ns */
	uint64_t usual_ns; /* what a handler takes that was not long */
	uint32_t watchful; /* so many handlers more read the time */
};

static inline bool budget_is_spent(const struct budget *b, uint64_t period)
{
	return b->debt_ns > period;
}

/* Must the handler that begins at wall time @now read its CPU time first? */
static inline bool budget_must_read(const struct budget *b, uint64_t now,
				    uint64_t period)
{
	return b->watchful || budget_is_spent(b, period) ||
	       now - b->read_at >= STALE_NS;
}

/*
 * CPU time is @cpu at wall time @now. What has passed since it was read last
 * pays the debt off, however many interrupts came or were lost meanwhile. A
 * forked child's clock begins anew.
 */
static inline void budget_pay(struct budget *b, uint64_t cpu, uint64_t now)
{
	uint64_t ns = cpu > b->paid_at ? cpu - b->paid_at : 0;
	uint64_t paid = ns / HANDLER_SHARE;

	b->paid_at = cpu;
	b->read_at = now;
	b->debt_ns -= paid < b->debt_ns ? paid : b->debt_ns;
}

/* True if @wall ns of wall time must be checked against CPU time. */
static inline bool budget_must_ask(uint64_t wall, uint64_t period)
{
	return wall > period / HANDLER_SHARE;
}

/*
 * A handler took @wall ns of wall time, and @ns of CPU time. It counts as a
 * period at most: a virtual machine may lose its own core, and neither clock
 * shows that.
 */
static inline void budget_charge(struct budget *b, uint64_t wall, uint64_t ns,
				 uint64_t period)
{
	b->debt_ns += ns < period ? ns : period;
	if (budget_must_ask(wall, period)) {
		b->watchful = WATCHFUL;
		return;
	}
	b->usual_ns = b->usual_ns ? b->usual_ns - b->usual_ns / USUAL_SHARE +
					    ns / USUAL_SHARE
				  : ns;
	if (b->watchful)
		b->watchful--;
}

#endif
