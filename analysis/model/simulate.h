/* SPDX-License-Identifier: MIT */
/*
 * simulate - run a trace on a machine
 */
#ifndef COMDET_ANALYSIS_MODEL_SIMULATE_H
#define COMDET_ANALYSIS_MODEL_SIMULATE_H

#include "caches.h"
#include "core.h"
#include "machine.h"
#include "separate.h"
#include "timeline.h"
#include "trace.h"

struct simulated_thread {
	uint32_t id;
	uint64_t start;  /* the cycle in which it is created */
	uint64_t cycles; /* from there to its end; its stack adds up to them */
	struct core_counts counts;
	struct cpi_stack stack;
	struct caches_counts caches;
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
};

/*
 * Simulate @t on @m. Returns 0, or -EINVAL with one line for the user in
 * @error.
 */
int simulate(struct simulated *s, const struct trace *t,
	     const struct machine *m, char error[TRACE_ERROR_BYTES]);

/* What a simulation collects besides. */
struct simulate_extras {
	struct timeline *timeline; /* NULL, or not initialized */
	bool misses;
	const struct separate *separate; /* accesses to move, or NULL */
};
int simulate_with(struct simulated *s, const struct trace *t,
		  const struct machine *m, const struct simulate_extras *extras,
		  char error[TRACE_ERROR_BYTES]);
void simulated_release(struct simulated *s);

#endif
