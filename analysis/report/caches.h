/* SPDX-License-Identifier: MIT */
/*
 * caches - expected and simulated misses of caches, for the report
 */
#ifndef COMDET_ANALYSIS_REPORT_CACHES_H
#define COMDET_ANALYSIS_REPORT_CACHES_H

#include "reuse.h"
#include "analysis/locality/mrc.h"

/*
 * Print the table of the @n caches of @s. Adds to @cache the shared caches that
 * were simulated and are not among them. Returns how many there are then.
 */
size_t report_caches_print(struct report *out, const struct report_reuse *r,
			   const struct reuse_stream *s,
			   struct mrc_cache cache[HOST_CACHES_MAX], size_t n);

/*
 * True if the lines in @c must compete for sets: it misses more than 1.5 times
 * as often as expected, and the difference exceeds 0.5 % of all accesses.
 */
bool report_caches_conflict(const struct mrc_cache *c);

/* Print what to do about those of @n caches that conflict. */
void report_caches_conflicts(struct report *out, const struct mrc_cache *cache,
			     size_t n);

/* Print the source lines that miss most; nothing if no cache was simulated. */
void report_caches_lines(struct report *out, const struct report_reuse *r);

/* The object "simulated_caches"; NULL if no cache was simulated. */
struct json_t *report_caches_json(struct report *out);

#endif
