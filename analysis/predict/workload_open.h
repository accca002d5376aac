/* SPDX-License-Identifier: MIT */
/*
 * workload_open - the profile that a path names
 */
#ifndef COMDET_ANALYSIS_PREDICT_WORKLOAD_OPEN_H
#define COMDET_ANALYSIS_PREDICT_WORKLOAD_OPEN_H

#include "workload.h"

/*
 * Read the .profile file @path, or collect a profile from the .trace file
 * @path, or take the only one of these in the directory @path. Dies with a line
 * that begins with "@verb: ".
 */
void workload_open(struct workload *w, const char *path, const char *verb);

/*
 * Collect a profile from each trace in the directory @path and write it beside
 * the trace, which is then removed; one line of it on stderr. Where this fails,
 * the line says why, and the trace stays. @name is @path as the user would type
 * it.
 */
void workload_convert(const char *path, const char *name);

#endif
