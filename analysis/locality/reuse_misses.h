/* SPDX-License-Identifier: MIT */
/*
 * reuse_misses - what the streams of a profile miss
 */
#ifndef COMDET_ANALYSIS_LOCALITY_REUSE_MISSES_H
#define COMDET_ANALYSIS_LOCALITY_REUSE_MISSES_H

#include "mrc.h"
#include "reuse_streams.h"

/* Is there a miss ratio: of accesses to lines, and not of the scope shared. */
bool reuse_stream_has_misses(const struct reuse_stream *s);

void reuse_stream_curve(const struct reuse_streams *all,
			const struct reuse_stream *s, struct mrc *m);

/* Share of its accesses at stack distance @lines or more, as converted. */
double reuse_stream_from(const struct reuse_stream *s, double lines);

/* The counted stack distances of the same accesses as @of; NULL if none. */
const struct reuse_stream *reuse_streams_distances(
	const struct reuse_streams *s, const struct reuse_stream *of);

/* What of @s was simulated in @cache; false if nothing was. */
bool reuse_stream_simulated(const struct reuse_streams *all,
			    const struct reuse_stream *s,
			    const struct host_cache *cache,
			    struct cache_count *c);

/*
 * What it misses in the caches of this machine that its scope speaks of:
 * private ones, shared ones, or all if one thread alone was measured. An outer
 * cache misses no more than an inner one. Returns how many.
 */
size_t reuse_stream_caches(const struct reuse_streams *all,
			   const struct reuse_stream *s,
			   struct mrc_cache cache[HOST_CACHES_MAX]);

/*
 * The miss ratio of its loads, or of its stores, in @cache; NAN if it has none.
 * What comes back is one or the other by that access, what never does by the
 * use.
 */
double reuse_stream_kind_ratio(const struct reuse_stream *s,
			       const struct host_cache *cache, bool of_stores);

/* Threads that uses are of, not told apart beyond two. */
size_t reuse_streams_threads(const struct reuse_streams *s);

/* Does the scope @scope speak of @cache? */
bool reuse_scope_has_cache(const struct reuse_streams *s,
			   enum reuse_scope scope,
			   const struct host_cache *cache);

#endif
