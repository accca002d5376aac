/* SPDX-License-Identifier: MIT */
/*
 * leaders - a few micro-traces that stand for all of a profile
 *
 * Windows that execute alike are a group, whatever their threads: they are
 * close in the shares of the classes of micro-operations, of mispredictions and
 * of misses, and in the length of their chains. Some micro-traces of a group
 * stand for all of it. What a window counts is still its own.
 */
#ifndef COMDET_ANALYSIS_PREDICT_LEADERS_H
#define COMDET_ANALYSIS_PREDICT_LEADERS_H

#include "workload.h"

/* A micro-trace that stands for its group. */
struct leader {
	uint32_t thread, micro, group;
};

struct leaders {
	struct leader *leader;
	size_t n;
	size_t groups;
	uint32_t **group; /* by thread and window */
	size_t threads;
};

/* Choose at most @wanted of @w, at least one. */
void leaders_choose(struct leaders *l, const struct workload *w, size_t wanted);
void leaders_release(struct leaders *l);

#endif
