/* SPDX-License-Identifier: MIT */
/*
 * output - the directory of a recording, and what is said of it
 */
#ifndef COMDET_ANALYSIS_RECORD_OUTPUT_H
#define COMDET_ANALYSIS_RECORD_OUTPUT_H

#include <stdbool.h>

#include "analysis/profile/profile.h"

/*
 * Make the directory @wanted, "out" if it is NULL or empty, for a new run whose
 * id goes to @run_id (OUTDIR_RUN_ID_BYTES bytes). Returns its descriptor, with
 * its path in @path (PATH_MAX bytes); dies if it cannot be made.
 */
int output_make(const char *wanted, char *run_id, char *path);

/*
 * The directory to make for what is recorded under @wanted: if we are a rank of
 * a parallel job, one of its own below @wanted, which is made then. Valid until
 * the next call; dies if it cannot be made.
 */
const char *output_of_rank(const char *wanted);

/* Remove the directory if it holds nothing but our marker. True if so. */
bool output_remove_if_empty(int dirfd, const char *path);

/* @path as the user would type it in this directory. */
const char *output_name(const char *path);

/* Say on stderr what was recorded, and how to read it. */
void output_say(const struct profile *p, const char *out);

#endif
