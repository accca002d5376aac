/* SPDX-License-Identifier: MIT */
/*
 * collect_quick - a profile of a trace that is whole in parts
 *
 * Between them the trace has the uses of lines that can be misses, and how much
 * was executed (preload/emu/quick.h). What a window counts otherwise follows
 * from its whole parts: classes of micro-operations, branches, and uses of
 * lines that were used a moment before, which count as used 4 accesses ago,
 * with a depth of 0. Micro-traces are in whole parts, some way behind their
 * beginning, so that the histories of the predictors are those of the program.
 */
#ifndef COMDET_ANALYSIS_PREDICT_COLLECT_QUICK_H
#define COMDET_ANALYSIS_PREDICT_COLLECT_QUICK_H

#include "collect_steps.h"

/* Collect a quick step. */
void collect_quick(struct collector *all, struct collected *c,
		   const struct trace_use *use);

/* A quick part begins: it is like the whole parts of the latest window. */
void collect_quick_begin(struct collected *c);

/* A whole part begins. */
void collect_quick_end(struct collected *c);

/* The latest window ends: estimate what its quick parts do not say. */
void collect_quick_end_window(struct collected *c);

#endif
