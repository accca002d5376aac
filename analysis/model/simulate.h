/* SPDX-License-Identifier: MIT */
/*
 * simulate - run a trace on a machine
 */
#ifndef COMDET_ANALYSIS_MODEL_SIMULATE_H
#define COMDET_ANALYSIS_MODEL_SIMULATE_H

#include "caches.h"
#include "core.h"
#include "machine.h"
#include "trace.h"

struct simulated_thread {
	uint32_t id;
	uint64_t cycles;
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
	struct simulated_thread *thread; /* in the order of the trace */
	size_t threads;
	struct simulated_unknown *unknown; /* the most frequent first */
	size_t unknowns, unknown_room;
	uint64_t memory_reads, memory_writes; /* of whole lines */
};

/*
 * Simulate @t on @m. Returns 0, or -EINVAL with one line for the user in
 * @error.
 */
int simulate(struct simulated *s, const struct trace *t,
	     const struct machine *m, char error[TRACE_ERROR_BYTES]);
void simulated_release(struct simulated *s);

#endif
