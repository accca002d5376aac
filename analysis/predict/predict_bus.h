/* SPDX-License-Identifier: MIT */
/*
 * predict_bus - how threads share the bus of memory
 */
#ifndef COMDET_ANALYSIS_PREDICT_PREDICT_BUS_H
#define COMDET_ANALYSIS_PREDICT_PREDICT_BUS_H

#include "predict.h"

/*
 * How many lines memory transfers for other threads in a cycle of window
 * @window of @thread, as the round @before says; a transfer takes @slot cycles,
 * and this thread has a fair share of the bus.
 */
double predict_others(const struct predicted *before, size_t thread,
		      size_t window, double slot);

/* The share of the bus that all threads need. */
double predict_bus_share(const struct predicted *p, const struct machine *m);

#endif
