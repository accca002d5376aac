/* SPDX-License-Identifier: MIT */
/*
 * runner - a thread of a simulation, an instruction or an event at a time
 *
 * simulate.c says which thread comes next.
 */
#ifndef COMDET_ANALYSIS_MODEL_RUNNER_H
#define COMDET_ANALYSIS_MODEL_RUNNER_H

#include "simulate.h"
#include "sync_engine.h"
#include "trace_sync.h"

/* A thread of the trace. */
struct runner {
	struct trace_stream *stream;
	uint32_t insn; /* next instruction of the step */
	size_t access; /* its first access */
	size_t event;  /* the step's next */
	struct trace_sync sync;
	struct sync_event next; /* the event that it has come to */
	bool began, at_event, over;
	uint32_t core;
	uint64_t where; /* the end of the latest block that is no jump */
	uint64_t left;  /* the time at which it left its core */
	uint64_t from;  /* the time at which its block began */
	bool detailed;  /* all of the block until now */
	struct core_account account;
	struct caches_counts before; /* of its core, when it came there */
	struct caches_counts caches;
};

struct simulation {
	struct simulated *result;
	const struct trace *trace;
	const struct machine *machine;
	struct caches *caches;
	struct core **core;
	struct runner **on; /* by core: who runs there, or NULL */
	uint32_t cores;
	struct runner *runner;
	size_t threads; /* of the trace, as far as they are known: */
	size_t known;   /* so many are */
	struct sync_engine *engine;
	struct timeline *timeline;       /* or NULL */
	const struct separate *separate; /* or NULL */
	struct unit_sampler *sampler;    /* or NULL */
	struct progress *progress;       /* or NULL */
	uint64_t executed;               /* since it was told */
};

/*
 * Get to know threads of a trace that is being recorded: @known or more until
 * its end. Those that no other thread creates start.
 */
void runner_meet(struct simulation *s, size_t known);

/* Read the thread's next step. Returns 1, 0 at the end, or -EINVAL. */
int runner_read(const struct simulation *s, struct runner *r);

/*
 * Execute the next instruction, or come to the next event: @r->at_event.
 * Between the units of a sample it may be a whole block. Returns 0, or -EINVAL
 * with a line in the stream's error.
 */
int runner_step(struct simulation *s, struct runner *r);

#endif
