/* SPDX-License-Identifier: MIT */
/*
 * separate - lines of their own for bytes that different threads use
 *
 * It answers what a program would take if no thread waited for a line of which
 * it uses other bytes than those that others write. The bytes of a line are in
 * groups,
 *
 * - those of each thread that makes nine tenths of the accesses to them,
 * - others with at most one store in ten accesses, and
 * - the rest,
 *
 * and each group comes to a line of its own, in the whole trace, whoever uses
 * it then. So what a main thread sets at the beginning or sums at the end does
 * not hide whose bytes they are. The last group stays where it is and remains
 * shared: two locks in one line still meet there, and so what this avoids is a
 * lower bound. Lines of which only one thread makes more than a few accesses
 * are left alone.
 */
#ifndef COMDET_ANALYSIS_MODEL_SEPARATE_H
#define COMDET_ANALYSIS_MODEL_SEPARATE_H

#include "trace.h"

struct separate;

/* NULL: @t has nothing to separate, or is damaged. */
struct separate *separate_new(const struct trace *t);
void separate_free(struct separate *s); /* also NULL */

/* The new address of an access of @bytes at @addr, which the trace has. */
uint64_t separate_address(const struct separate *s, uint64_t addr,
			  uint32_t bytes);

/* Move all accesses of @step. */
void separate_step(const struct separate *s, const struct trace *t,
		   const struct trace_step *step);

#endif
