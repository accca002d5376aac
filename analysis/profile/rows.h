/* SPDX-License-Identifier: MIT */
/*
 * rows - from thread ids in files to rows, and rows merged
 */
#ifndef COMDET_ANALYSIS_PROFILE_ROWS_H
#define COMDET_ANALYSIS_PROFILE_ROWS_H

#include "profile.h"

/*
 * The threads from row @first_thread, the pairs from @first_pair and the reuses
 * from @first_reuse on are process @process. Turn the thread ids in its pairs
 * and reuses into rows; an id that no row has gets one.
 */
void rows_of_pairs(struct profile *p, uint32_t process, size_t first_thread,
		   size_t first_pair, size_t first_reuse);

/* Processes by time of start, threads by process and id. */
void rows_order(struct profile *p);

/*
 * The CPU clocks of a process, and of the thread that is left, go on through
 * exec: take off what the program before had used. Needs the order, and the
 * rows as they were recorded.
 */
void rows_take_off_execed(struct profile *p);

/*
 * Merge ended threads of one process that have the same name and start
 * routine. Counts add up; pairs and reuses follow their threads.
 */
void rows_merge(struct profile *p);

#endif
