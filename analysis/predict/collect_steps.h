/* SPDX-License-Identifier: MIT */
/*
 * collect_steps - what the steps of a trace tell about a thread
 *
 * Of each instruction: its window, its branch and how far back it uses lines;
 * within a micro-trace also its micro-operations.
 */
#ifndef COMDET_ANALYSIS_PREDICT_COLLECT_STEPS_H
#define COMDET_ANALYSIS_PREDICT_COLLECT_STEPS_H

#include "block_work.h"
#include "entropy.h"
#include "line_uses.h"
#include "micro.h"
#include "workload.h"
#include "analysis/model/predictor.h"
#include "analysis/model/trace_sync.h"

/* Of a trace that is whole in parts: collect_quick.h. */
struct collected_quick {
	bool on;        /* the latest step was quick */
	uint64_t micro; /* instructions before the latest micro-trace */

	/* In the latest window. */
	uint64_t insns, accesses;    /* of quick parts */
	uint64_t sent[WINDOW_KINDS]; /* uses that they have */
	uint64_t whole_accesses;     /* of whole parts */
	uint64_t uses[WINDOW_KINDS]; /* of whole parts */

	/* In whole parts: micro-operations and uses of instructions for each
	 * instruction, uses of data for each access. */
	double uops_rate, code_rate, data_rate;
	double data, code; /* parts of uses that have passed */
};

enum {
	COLLECT_AHEAD = 16, /* a power of two */
};

/* The uses of a quick part that come next. */
struct collected_ahead {
	struct trace_use use[COLLECT_AHEAD]; /* ring */
	uint32_t first, n;
};

struct collected {
	struct workload_thread *to;
	struct trace_stream *stream;
	/* What comes next; if there is none, the step of the stream does. */
	struct collected_ahead ahead;
	struct predictor *predictor;  /* of each kind */
	struct entropy *entropy;
	struct thread_uses uses;
	uint64_t spacing;  /* from micro-trace to micro-trace, on average */
	bool scattered;    /* they are not at the same distances */
	uint64_t late;     /* how far into its spacing the latest one began */
	uint64_t interval; /* from the latest micro-trace to the next one, */
	uint64_t window;   /* and of a window: instructions */
	uint64_t at;       /* instructions since the interval began */
	struct window *now;        /* the latest one */
	struct micro *micro;
	uint64_t line;  /* of the latest instruction */
	bool new_phase; /* the next instruction begins a window */

	struct collected_quick quick;
	struct trace_sync sync;
	int more;        /* 1: a step is still to be collected; 0, -EINVAL */
	uint64_t insns;  /* of a quick step that is next, before its use */
	bool runs, over; /* in the order of the threads */
	double clock;    /* instructions, and waits for others */
	size_t happened; /* events so far */
};

struct collector {
	struct line_uses uses;
	struct block_works blocks;
	struct sync_engine *engine;
	struct collected *thread;
	size_t threads;
	bool quick; /* the trace has quick parts */
};

/* The latest window of @c, which has one, gets what is known at its end. */
void collect_end_window(struct collected *c);

/* Read the first step. */
void collect_begin(struct collector *all, struct collected *c);

/* Collect the next step. Returns 1, 0 at the end, or -EINVAL. */
int collect_step(struct collector *all, struct collected *c);

#endif
