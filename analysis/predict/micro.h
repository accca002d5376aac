/* SPDX-License-Identifier: MIT */
/*
 * micro - write down the micro-traces of a thread
 *
 * Registers and addresses are followed from the beginning of each micro-trace;
 * what was written before has no producer.
 */
#ifndef COMDET_ANALYSIS_PREDICT_MICRO_H
#define COMDET_ANALYSIS_PREDICT_MICRO_H

#include "workload.h"

struct micro;

struct micro *micro_new(void); /* free() it */

/* A micro-trace of @t begins, in its latest window. */
void micro_begin(struct micro *m, struct workload_thread *t);

/*
 * Add @u to the latest micro-trace. @addr is that of its access of memory, and
 * @access how it reuses its line; NULL: it makes none. @wrong has a bit for
 * each predictor that errs.
 */
void micro_add(struct micro *m, struct workload_thread *t, const struct uop *u,
	       uint64_t addr, const struct micro_access *access, uint8_t wrong);

/* An event comes before the micro-operation that is added next. */
void micro_event(struct micro *m);

/* The micro-operation that is added next is the first of a new line of
 * instructions. */
void micro_fetch(struct micro *m, const struct micro_access *access);

#endif
