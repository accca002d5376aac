/* SPDX-License-Identifier: MIT */
/*
 * rows - turn thread ids in files into rows, and merge rows
 */
#ifndef COMDET_ANALYSIS_PROFILE_ROWS_H
#define COMDET_ANALYSIS_PROFILE_ROWS_H

#include "profile.h"

/*
 * The threads from row @first_thread on, the pairs from @first_pair on, the
 * reuses from @first_reuse on and the slices from @first_slice on belong to
 * process @process. Turn the thread ids in its pairs and reuses into rows; an
 * id without a row gets one, in a slice NO_THREAD.
 */
void rows_of_pairs(struct profile *p, uint32_t process, size_t first_thread,
		   size_t first_pair, size_t first_reuse, size_t first_slice);

/*
 * Give each of the @n thread ids @ids, which are sorted here, a row of process
 * @process that says that the thread is not known.
 */
void rows_add_unknown(struct profile *p, uint32_t process, uint32_t *ids,
		      size_t n);

/* Order processes by time of start, and threads by process and id. */
void rows_order(struct profile *p);

/*
 * The CPU clocks of a process, and of the thread that survives, go on through
 * exec: subtract what the program before it had used. Call after rows_order()
 * and before rows_merge().
 */
void rows_take_off_execed(struct profile *p);

/* Add the counts of @from to @to. */
void rows_add(struct thread_row *to, const struct thread_row *from);

/*
 * Row i goes if into[i] is another row, which has taken its counts; pairs,
 * reuses and slices follow. The others keep their order. into[] gets the new
 * numbers.
 */
void rows_close_gaps(struct profile *p, uint32_t *into);

/*
 * Merge ended threads of one process that have the same name and start routine.
 * Counts add up; pairs, reuses and slices follow their threads.
 */
void rows_merge(struct profile *p);

#endif
