/* SPDX-License-Identifier: MIT */
/*
 * simulate - run a trace on a machine
 */
#ifndef COMDET_ANALYSIS_MODEL_SIMULATE_H
#define COMDET_ANALYSIS_MODEL_SIMULATE_H

#include "caches.h"
#include "core.h"
#include "machine.h"
#include "unit_sampler.h"
#include "separate.h"
#include "timeline.h"
#include "trace.h"
#include "analysis/base/progress.h"

struct simulated_thread {
	uint32_t id;
	uint64_t start;  /* the cycle in which it is created */
	uint64_t cycles; /* from there to its end; its stack adds up to them */
	struct core_counts counts;
	struct cpi_stack stack;
	struct caches_counts caches;
	struct sampling_estimate sampled; /* its cycles, if it is sampled */
};

/* How the trace was sampled. */
struct simulated_sampling {
	uint64_t seed, unit, warm, distance, head; /* in struct sampling */
	struct sampling_estimate cycles;           /* units 0: not sampled */
	bool contended; /* too much for an interval: docs/simulate.md */
	double order;   /* the share of the time that depends on which thread
			   has a core when */
};

/* An instruction without a class of its own. */
struct simulated_unknown {
	const char *mnemonic;
	uint64_t count;
};

struct simulated {
	uint64_t instructions;
	uint64_t cycles; /* until the last thread has ended */
	double ns;
	struct simulated_thread *thread; /* those with instructions, by id */
	size_t threads;
	struct caches_counts *core; /* the same over all threads, by core */
	uint32_t cores;
	struct simulated_unknown *unknown; /* the most frequent first */
	size_t unknowns, unknown_room;
	uint64_t memory_reads, memory_writes; /* of whole lines */
	struct misses *misses;                /* or NULL */
	struct simulated_sampling sampled;
};

/*
 * Simulate @t on @m. Returns 0, or -EINVAL with one line for the user in
 * @error.
 *
 * If it is sampled, instructions, cache misses and branches are counted in the
 * whole trace, and all cycles are estimates.
 */
int simulate(struct simulated *s, const struct trace *t,
	     const struct machine *m, char error[TRACE_ERROR_BYTES]);

/* What a simulation collects besides. */
struct simulate_extras {
	struct timeline *timeline; /* NULL, or not initialized */
	bool misses;
	const struct separate *separate;     /* accesses to move, or NULL */
	const struct sampling_wish *sampled; /* NULL: all in detail */
	struct progress *progress; /* is told of instructions; or NULL */
};
int simulate_with(struct simulated *s, const struct trace *t,
		  const struct machine *m, const struct simulate_extras *extras,
		  char error[TRACE_ERROR_BYTES]);

/*
 * In simulate_result.c. Count an instruction without a class of its own; at the
 * end, put the most frequent first.
 */
void simulated_count_unknown(struct simulated *s, const char *mnemonic);
void simulated_sort_unknown(struct simulated *s);
/* Thread number @i of @from, which is thread @t here, took what units say. */
void simulated_estimate_thread(struct simulated_thread *t,
			       const struct unit_sampler *from, size_t i);
/*
 * The same of the whole program, at the end. The share @order of the time
 * depends on the order in which threads have cores.
 */
void simulated_estimate(struct simulated *s, const struct unit_sampler *from,
			const struct sampling_wish *wish, double order);
void simulated_release(struct simulated *s);

#endif
