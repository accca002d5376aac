/* SPDX-License-Identifier: MIT */
/*
 * trace_sync - the synchronization in a trace, as sync_engine takes it
 *
 * Threads are numbered as in struct trace.
 */
#ifndef COMDET_ANALYSIS_MODEL_TRACE_SYNC_H
#define COMDET_ANALYSIS_MODEL_TRACE_SYNC_H

#include "sync_engine.h"
#include "trace.h"

/* What the events of a thread so far mean for its next one: zeros at first. */
struct trace_sync {
	bool paired; /* a TRACE_PAIR came */
	uint64_t pair;
};

/*
 * Make @to of the next event of a thread; `where` is left alone. Returns false
 * if there is nothing to do: it belongs to another event, or is about a thread
 * that the trace does not have.
 */
bool trace_sync_event(struct trace_sync *s, const struct trace *t,
		      const struct trace_event *event, struct sync_event *to);

/*
 * True if a thread with @step as its first step is created by another one; it
 * is there from the beginning otherwise.
 */
bool trace_sync_is_created(const struct trace_step *step);

#endif
