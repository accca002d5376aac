/* SPDX-License-Identifier: MIT */
/*
 * trace_live - a trace that comes through a pipe while it is recorded
 *
 * A thread of its own takes chunks from the pipe and keeps them, compressed as
 * they are, until all simulations have read them. Simulations read as they do
 * from a file, and wait for what has not come. If they keep too much, no more
 * is taken until they have read on: then the pipe is full, and the program
 * waits. Unless all of them wait: what they need comes later in the pipe.
 *
 * Threads have their numbers as indices. One that has sent no chunk is not
 * known.
 */
#ifndef COMDET_ANALYSIS_MODEL_TRACE_LIVE_H
#define COMDET_ANALYSIS_MODEL_TRACE_LIVE_H

#include "trace.h"

/*
 * Read @t from @fd, a pipe. @readers simulations will read it, all at the same
 * time, but only @jobs of them run at a time. Returns when the first thread is
 * known: 0, or -EINVAL with a line in @error.
 */
int trace_live_open(struct trace *t, int fd, size_t readers, unsigned int jobs,
		    char error[TRACE_ERROR_BYTES]);

/*
 * Instead of trace_close(). The pipe must be at its end, or its writer must get
 * no harm from a reader that is gone.
 */
void trace_live_close(struct trace *t);

/* A simulation begins, when it may run; and ends. */
void trace_live_enter(struct trace_live *l);
void trace_live_leave(struct trace_live *l, bool failed);

/*
 * Put into @indices how many indices of threads there are; those that are not
 * known count too. Returns how many are known. Waits until they are more than
 * @known, or until the end.
 */
size_t trace_live_threads(struct trace_live *l, size_t known, size_t *indices);
bool trace_live_knows(struct trace_live *l, size_t thread);
/* Wait until it is known, or until the end. */
void trace_live_await(struct trace_live *l, uint64_t thread);
/* What the first token of the thread is: an event that it is created. */
bool trace_live_is_created(struct trace_live *l, size_t thread);

/* A chunk of a thread, and how much of the program is known with it. */
struct trace_live_chunk {
	struct trace_chunk head;
	uint64_t offset;
	const unsigned char *data;
	size_t blocks, insns;
};

/*
 * Wait for chunk @number of @thread. Returns 1, 0 if there is none, -EINVAL
 * with a line in @error, or -ECANCELED if another simulation has failed. It is
 * there until the same simulation calls trace_live_done().
 */
int trace_live_next(struct trace_live *l, size_t thread, size_t number,
		    struct trace_live_chunk *to, char error[TRACE_ERROR_BYTES]);
void trace_live_done(struct trace_live *l, size_t thread, size_t number);

/*
 * Wait for the end. Returns 1 if it came with the last chunk, 0 if the trace is
 * cut short, or as trace_live_next().
 */
int trace_live_end(struct trace_live *l, char error[TRACE_ERROR_BYTES]);

#endif
