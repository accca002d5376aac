/* SPDX-License-Identifier: MIT */
/*
 * slices - a process that was watched several times, as one
 *
 * The daemon writes a file for each process in each slice of time.
 */
#ifndef COMDET_ANALYSIS_PROFILE_SLICES_H
#define COMDET_ANALYSIS_PROFILE_SLICES_H

#include "profile.h"

/*
 * Unite the files of one process, and in them the rows of one thread: same
 * number, same name. The generations of maps of a later file follow those of
 * the one before. Call after rows_order(), and order again if it says true.
 */
bool slices_unite(struct profile *p);

#endif
