/* SPDX-License-Identifier: MIT */
/*
 * reuse_sites - where the program reuses its data, for people
 */
#ifndef COMDET_ANALYSIS_REPORT_REUSE_SITES_H
#define COMDET_ANALYSIS_REPORT_REUSE_SITES_H

#include "reuse.h"

/* Print the sites of @s; nothing if that is NULL. */
void reuse_sites_print(struct report *out, const struct report_reuse *r,
		       const struct reuse_stream *s);

#endif
