/* SPDX-License-Identifier: MIT */
/*
 * workload - what a program does, whatever the machine: the profile of RPPM
 *
 * Collected once from a trace; a run time on any machine is predicted from it
 * (predict.h). Of each thread it has
 *
 * windows	runs of some 200,000 instructions or more: what they execute,
 *		how often each branch predictor is wrong, the entropy of the
 *		branches, and how far apart they reuse lines of data and of
 *		instructions;
 * micro-traces	1,000 instructions every so many: their micro-operations, on
 *		which earlier ones each depends, and how far back each access
 *		reuses its line. Chains of dependences follow from them for any
 *		window and any latencies;
 * events	of synchronization, by the number of the instruction.
 *
 * How far back is kept in two ways. The reuse time counts accesses; the stack
 * distance in lines follows from the times of all accesses. The depth is the
 * place of the line among those of its set, the latest first, for each number
 * of sets: it is below the number of ways if, and only if, a cache of that many
 * sets and ways that evicts the least recently used line holds it. What each
 * prefetcher would ask for is there as well (prefetches.h).
 */
#ifndef COMDET_ANALYSIS_PREDICT_WORKLOAD_H
#define COMDET_ANALYSIS_PREDICT_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/machine.h"
#include "analysis/model/sync_engine.h"
#include "analysis/model/trace.h"
#include "src/engine/reuse_histogram.h"

enum {
	PREFETCH_KINDS = PREFETCHERS - 1, /* all but none */
	PREFETCH_STREAM = PREFETCHER_STREAM - 1,
	PREFETCH_FAR = UINT16_MAX,

	DEPTH_SETS_MIN = 4, /* log2 of the fewest sets */
	DEPTH_SIZES = 11,   /* numbers of sets: 16 to 16,384 */
	DEPTH_WAYS = 24,    /* a depth of this many or more is this */
	SHARED_FIRST = 6, /* 1,024 sets: the fewest for lines of all threads */
	SHARED_SIZES = DEPTH_SIZES - SHARED_FIRST,

	MICRO_INSNS = 1000,
	MICRO_UOPS = MICRO_INSNS * UOPS_MAX,
	MICRO_SOURCES = UOP_SOURCES,
	MICRO_SETS = 1 << 14, /* of L1D, that a profile tells apart */

	/* In the flags: behind an event, which waits for all before it. */
	MICRO_IS_DRAINED = 32,

	/* Instead of a bin of reuse times. */
	WORKLOAD_COLD = REUSE_BINS, /* the first access to its line */
	WORKLOAD_INVALID,           /* another thread stored to it since */
	WORKLOAD_REUSES,

	WORKLOAD_THREADS_MAX = 1024,
	WORKLOAD_ERROR_BYTES = TRACE_ERROR_BYTES,
};

/* How far back an access reuses its line. */
struct micro_access {
	uint16_t reuse;  /* enum, or a bin, of the thread's own accesses */
	uint16_t global; /* the same of the accesses of all threads */
	uint8_t depth[DEPTH_SIZES];
	uint8_t shared[SHARED_SIZES]; /* among the lines of all threads */
	uint16_t set; /* of data: line modulo MICRO_SETS, or MICRO_SETS: unknown
		       */
	/* Prefetchers, as prefetches.h has them, a bit for each. */
	uint8_t vain; /* asks here for a line that is not used then */
	/* How many micro-operations before it asked for this line; 0: never;
	 * PREFETCH_FAR: so many that L2 has lost it since. */
	uint16_t asked[PREFETCH_KINDS];
	/*
	 * Of the stream (streams.h), which has in asked how far back the access
	 * before this one is: the place of this line, and that of the last
	 * line of a run that ends with that access; 0: none.
	 */
	uint8_t place, ended;
};

/* Distances count micro-operations back; 0: there is none. */
struct micro_uop {
	uint8_t class,
		flags; /* enum uop_class; enum uop_flag and the one above */
	uint8_t wrong; /* branch: a bit for each predictor that errs */
	uint8_t sources;
	uint16_t source[MICRO_SOURCES];
	uint16_t forward; /* load: the store that it reads from */
	uint16_t line;    /* the latest access to the same line */
	uint32_t access;  /* number of its access + 1; 0: none */
	uint32_t fetch;   /* the same of a new line of instructions */
};

struct micro_trace {
	uint32_t first, uops; /* in the thread's */
	uint32_t window;
	uint32_t instructions;
};

enum window_kind {
	WINDOW_LOADS,
	WINDOW_STORES,
	WINDOW_FETCHES, /* of lines of instructions */
	WINDOW_KINDS
};

enum window_entropy {
	ENTROPY_LOCAL,
	ENTROPY_GLOBAL,
	ENTROPY_TOURNAMENT,
	ENTROPIES
};

/* Counts, but for the entropies. */
struct window {
	uint64_t instructions;
	uint32_t uops[UOP_CLASSES];
	uint32_t wrong[PREDICTORS];
	double entropy[ENTROPIES]; /* 0 to 1, of the conditional branches */
	uint32_t reuse[WINDOW_KINDS][WORKLOAD_REUSES];
	uint32_t global[WINDOW_KINDS][WORKLOAD_REUSES];
	uint32_t depth[WINDOW_KINDS][DEPTH_SIZES][DEPTH_WAYS + 1];
	uint32_t shared[WINDOW_KINDS][SHARED_SIZES][DEPTH_WAYS + 1];
};

/*
 * An event of a thread, behind so many of its instructions. Threads are
 * numbered as in struct workload.
 */
struct workload_event {
	uint64_t instruction;
	bool outside; /* outside the region of interest: it takes no time */
	struct sync_event event;
};

struct workload_thread {
	uint32_t id;
	bool starts; /* with the program; else another thread creates it */
	uint64_t instructions;
	uint64_t lines, stored_lines; /* different lines of data */
	struct window *window;
	size_t windows, windows_room;
	struct micro_trace *micro;
	size_t micros, micros_room;
	struct micro_uop *uop;
	size_t uops, uops_room;
	struct micro_access *access;
	size_t accesses, accesses_room;
	struct workload_event *event;
	size_t events, events_room;
};

struct workload {
	uint64_t interval; /* from micro-trace to micro-trace, at most */
	struct workload_thread *thread;
	size_t threads;
	bool shared; /* it has depths among the lines of all threads */
	bool quick;  /* some of it is estimated (collect_quick.h) */
};

void workload_release(struct workload *w);

/*
 * In workload_collect.c: collect from @t, with a micro-trace every @interval
 * instructions; 0: so that the longest thread has about 500. Returns 0, or
 * -EINVAL with a line for the user in @error.
 */
int workload_collect(struct workload *w, const struct trace *t,
		     uint64_t interval, char error[WORKLOAD_ERROR_BYTES]);

#endif
