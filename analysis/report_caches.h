/* SPDX-License-Identifier: MIT */
/*
 * report_caches - what the report says of caches that were simulated
 */
#ifndef REUSETRACK_REPORT_CACHES_H
#define REUSETRACK_REPORT_CACHES_H

#include "analysis/report_reuse.h"

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
