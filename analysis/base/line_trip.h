/* SPDX-License-Identifier: MIT */
/*
 * line_trip - how long a cache line takes from one processor to another and
 * back
 */
#ifndef COMDET_ANALYSIS_BASE_LINE_TRIP_H
#define COMDET_ANALYSIS_BASE_LINE_TRIP_H

#include <sched.h>
#include <stdbool.h>

/* Let the calling thread run on processor @cpu only. */
void stay_on(int cpu);

/*
 * The first two processors of @all, of which the calling thread may use
 * several. Returns false if there is one only.
 */
bool two_processors(const cpu_set_t *all, int cpu[2]);

/*
 * Two threads, on the processors @cpu, store to one line in turn. Writes ns of
 * a turn of both to @ns: the median of five means of 300, since a processor may
 * be taken away meanwhile. Returns false if the second thread did not get its
 * processor within 20 ms. The calling thread stays on @cpu[0].
 */
bool line_round_trip(const int cpu[2], double *ns);

#endif
