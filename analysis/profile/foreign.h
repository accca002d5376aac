/* SPDX-License-Identifier: MIT */
/*
 * foreign - detections between processes that share memory
 */
#ifndef COMDET_ANALYSIS_PROFILE_FOREIGN_H
#define COMDET_ANALYSIS_PROFILE_FOREIGN_H

#include "profile.h"

/*
 * Find the rows of publishers in other processes than the detector's. A
 * publisher whose file is missing gets a row that says so. Call when all files
 * are loaded, before rows_order().
 */
void foreign_publishers(struct profile *p);

/*
 * A line of memory that several processes share has an address in each of them.
 * Give all pairs on it those of the first process that has it mapped. Call
 * after rows_order().
 */
void foreign_lines(struct profile *p);

/*
 * The name of writable memory that two processes shared while each was profiled
 * alone, so that nothing is known of the sharing between them. NULL: none.
 */
const char *foreign_unseen(const struct profile *p);

#endif
