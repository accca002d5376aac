/* SPDX-License-Identifier: MIT */
/*
 * simulate_many - a trace on several machines, several at a time
 *
 * All simulations read one copy of the trace and of its decoded instructions.
 */
#ifndef COMDET_ANALYSIS_MODEL_SIMULATE_MANY_H
#define COMDET_ANALYSIS_MODEL_SIMULATE_MANY_H

#include "simulate.h"

/*
 * Simulate @t on each of the @n machines @m, @jobs (1 or more) at a time, each
 * with its own of @extras, or all without if that is NULL. Long simulations
 * show their progress on standard error if that is a terminal. The results, one
 * for each machine, do not depend on @jobs. Returns 0, or -EINVAL with one line
 * for the user in @error; then there are no results.
 */
int simulate_many(struct simulated *result, const struct trace *t,
		  const struct machine *m, size_t n, unsigned int jobs,
		  const struct simulate_extras *extras,
		  char error[TRACE_ERROR_BYTES]);

#endif
