/* SPDX-License-Identifier: MIT */
/*
 * reuse - the streams, sites and paths that a report is about
 */
#ifndef COMDET_ANALYSIS_REPORT_REUSE_H
#define COMDET_ANALYSIS_REPORT_REUSE_H

#include "report.h"
#include "analysis/locality/reuse_paths.h"
#include "analysis/locality/reuse_sites.h"

enum {
	REUSE_USES_MIN = 30,      /* with fewer, misses come with a warning */
	REUSE_RATIO_COLUMNS = 23, /* width of a ratio and its limits */
};

struct report_reuse {
	struct reuse_streams streams;
	struct reuse_sites sites;
	struct reuse_paths paths;
	struct symbols *symbols;
	struct reuse_filter filter; /* its pairings: for sites and pairs */
};

void report_reuse_init(struct report_reuse *r, const struct profile *p,
		       struct symbols *symbols,
		       const struct reuse_filter *filter);
void report_reuse_release(struct report_reuse *r);

/* True if @s covers all that is asked for, rather than a part of it. */
bool report_reuse_shows(const struct report_reuse *r,
			const struct reuse_stream *s);

/*
 * The first stream of that kind that covers all that is asked for; NULL if none
 * does.
 */
const struct reuse_stream *report_reuse_find(const struct report_reuse *r,
					     enum reuse_basis basis,
					     enum reuse_scope scope,
					     enum reuse_granularity g);

/* The stream that says most, in lines if possible; NULL if there is none. */
const struct reuse_stream *report_reuse_main(const struct report_reuse *r,
					     enum reuse_basis basis);

#endif
