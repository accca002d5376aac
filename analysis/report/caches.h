/* SPDX-License-Identifier: MIT */
/*
 * caches - what caches miss, as expected and as simulated, for the report
 */
#ifndef COMDET_ANALYSIS_REPORT_CACHES_H
#define COMDET_ANALYSIS_REPORT_CACHES_H

#include "reuse.h"
#include "analysis/locality/mrc.h"

/*
 * The table of the @n caches of @s; where shared ones were simulated and are
 * not among them it adds them to @cache. Returns how many it has then.
 */
size_t report_caches_print(struct report *out, const struct report_reuse *r,
			   const struct reuse_stream *s,
			   struct mrc_cache cache[HOST_CACHES_MAX], size_t n);

/*
 * Does @c miss so much more than is expected of it, by half again and by half
 * a point of all accesses, that its lines must share sets?
 */
bool report_caches_conflict(const struct mrc_cache *c);

/* What to do about it, for those of @n caches that conflict. */
void report_caches_conflicts(struct report *out, const struct mrc_cache *cache,
			     size_t n);

/* The source lines that miss most; nothing if no cache was simulated. */
void report_caches_lines(struct report *out, const struct report_reuse *r);

/* The object "simulated_caches"; NULL if there were none. */
struct json_t *report_caches_json(struct report *out);

#endif
