/* SPDX-License-Identifier: MIT */
/*
 * depths - where a line is among those of its set, for each number of sets
 *
 * The lines of each set are kept in the order of their latest use, for 16 sets,
 * 32, and so on (Hill and Smith, IEEE TC 38, 1989). A line that is first in its
 * set is first in the smaller sets, too, which are parts of it; so most uses
 * end after one look.
 */
#ifndef COMDET_ANALYSIS_PREDICT_DEPTHS_H
#define COMDET_ANALYSIS_PREDICT_DEPTHS_H

#include "workload.h"

struct depths;

/* With AVX2 if the processor has it, unless @narrow. */
struct depths *depths_new(bool narrow);
void depths_free(struct depths *d);

/*
 * Use @line, which @id above 0 stands for; its depths before, for the numbers
 * of sets from number @first on, which is the same each time. DEPTH_WAYS: at
 * least that many lines were used since, or it was never used. Returns for how
 * many numbers of sets it is above 0; only these are put into @depth.
 */
int depths_use(struct depths *d, uint64_t line, uint32_t id, int first,
	       uint8_t *depth);

/*
 * @line will be used for the first time: a page of memory that nothing has used
 * costs one fault then, and two if it is read first.
 */
void depths_touch(struct depths *d, uint64_t line, int first);

/* Fetch what a use of @line reads, for a use soon. */
void depths_fetch(struct depths *d, uint64_t line);

#endif
