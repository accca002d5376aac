/* SPDX-License-Identifier: MIT */
/*
 * reuse_paths - the calls that led to use and reuse
 */
#ifndef COMDET_ANALYSIS_REPORT_REUSE_PATHS_H
#define COMDET_ANALYSIS_REPORT_REUSE_PATHS_H

#include "reuse.h"

/*
 * Print the calls that led to use and reuse at the source lines of @p; nothing
 * if none are known. Returns true if a function recurs in them.
 */
bool reuse_paths_print(struct report *out, const struct report_reuse *r,
		       const struct reuse_pair *p);

/* An array of the call paths of @p itself. */
struct json_t *reuse_paths_json(const struct report_reuse *r,
				const struct reuse_pair *p);

#endif
