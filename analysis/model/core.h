/* SPDX-License-Identifier: MIT */
/*
 * core - one out-of-order core, a time for each step of each micro-operation
 *
 * Instead of simulating cycle after cycle, the core takes micro-operations in
 * the order of the program and works out when each is dispatched, issued,
 * complete and committed. Those of its predecessors are known then:
 *
 * dispatch	in order, at most core.width in a cycle; needs an entry of the
 *		ROB (the one that many before it has committed) and of the issue
 *		queue; waits for instructions, and behind a mispredicted branch
 *		until core.refill - 2 cycles after its issue.
 * issue	at the earliest in the next cycle; needs its operands, a port,
 *		and an entry of the load or store queue. A load that reads what
 *		an older store in the ROB wrote needs that store's operands. A
 *		store waits until all older micro-operations are issued.
 * done		after its latency. A load: when the caches say. A store is done
 *		after its latency, while its access goes on.
 * commit	in order, at the earliest one cycle after done.
 *
 * A barrier (a locked store, a fence) waits until all older micro-operations
 * have committed and all older stores are complete; no younger access of memory
 * is issued before it.
 */
#ifndef COMDET_ANALYSIS_MODEL_CORE_H
#define COMDET_ANALYSIS_MODEL_CORE_H

#include "caches.h"
#include "cpi_stack.h"
#include "forecast.h"
#include "machine.h"
#include "trace.h"

struct core_counts {
	uint64_t instructions, uops, loads, stores;
	uint64_t branches, mispredicted; /* conditional ones */
	uint64_t unknown; /* instructions without a class of their own */
};

/* What a core counts for the thread that runs on it. */
struct core_account {
	struct core_counts counts;
	struct cpi_stack stack;
	double fetching; /* cycles until memory gave instructions */
};

/* The same, as time of a program of which so many threads run. */
struct core_fetches {
	double cycles;
	uint32_t running;
};

struct core;

/*
 * @misses, which @caches tell of misses, hears whose they are; or NULL. Before
 * it executes anything, a core needs core_switch.
 */
struct core *core_new(const struct machine *m, struct caches *caches,
		      struct misses *misses, uint32_t id);
void core_free(struct core *c); /* not NULL */

/*
 * A sample wants to know the cycles until memory gave instructions, which are
 * added to @to, and the core's forecast.
 */
void core_note(struct core *c, struct core_fetches *to, struct forecast *f);

/*
 * Execute the instruction @insn. @access has its @n accesses; @next_ip is the
 * address of the instruction behind it, 0 if there is none.
 */
void core_execute(struct core *c, const struct trace_insn *insn,
		  const struct trace_access *access, size_t n,
		  uint64_t next_ip);

/*
 * The same for caches, predictor and counts alone, which takes until @t. Call
 * caches_set_warming before.
 */
void core_warm(struct core *c, const struct trace_insn *insn,
	       const struct trace_access *access, size_t n, uint64_t next_ip,
	       uint64_t t);

/* The same for a block without instructions of no class. */
void core_warm_block(struct core *c, const struct trace *trace,
		     const struct trace_step *step, uint64_t t);

/* The cycle of the latest dispatch, and that of the latest commit. */
uint64_t core_now(const struct core *c);
uint64_t core_end(const struct core *c);

/*
 * The thread is in synchronization until @t: nothing is dispatched before.
 */
void core_sleep(struct core *c, uint64_t t);

/* From @t on the core runs the thread of @account. */
void core_switch(struct core *c, struct core_account *account, uint64_t t);

#endif
