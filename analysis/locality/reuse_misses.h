/* SPDX-License-Identifier: MIT */
/*
 * reuse_misses - what the streams of a profile miss
 */
#ifndef COMDET_ANALYSIS_LOCALITY_REUSE_MISSES_H
#define COMDET_ANALYSIS_LOCALITY_REUSE_MISSES_H

#include "mrc.h"
#include "reuse_streams.h"

/*
 * True if @s has a miss ratio: it counts accesses to lines, and its scope is
 * not shared.
 */
bool reuse_stream_has_misses(const struct reuse_stream *s);

void reuse_stream_curve(const struct reuse_streams *all,
			const struct reuse_stream *s, struct mrc *m);

/*
 * The share of the accesses of @s whose stack distance, converted from reuse
 * times, is @lines or more.
 */
double reuse_stream_from(const struct reuse_stream *s, double lines);

/*
 * The stream of counted stack distances of the same accesses as @of; NULL if
 * there is none.
 */
const struct reuse_stream *reuse_streams_distances(
	const struct reuse_streams *s, const struct reuse_stream *of);

/* What was simulated of @s in @cache; false if nothing was. */
bool reuse_stream_simulated(const struct reuse_streams *all,
			    const struct reuse_stream *s,
			    const struct host_cache *cache,
			    struct cache_count *c);

/*
 * The misses of @s in the caches that its scope covers: private ones, shared
 * ones, or all if only one thread was measured. An outer cache misses no more
 * than an inner one. Returns how many caches.
 */
size_t reuse_stream_caches(const struct reuse_streams *all,
			   const struct reuse_stream *s,
			   struct mrc_cache cache[HOST_CACHES_MAX]);

/*
 * The miss ratio of its loads, or of its stores, in @cache; NAN if it has none.
 * A reuse counts as a load or a store by the reusing access, a use without
 * reuse by the use.
 */
double reuse_stream_kind_ratio(const struct reuse_stream *s,
			       const struct host_cache *cache, bool of_stores);

/* The number of threads with uses: 0, 1, or 2 for any more. */
size_t reuse_streams_threads(const struct reuse_streams *s);

/* True if the scope @scope covers @cache. */
bool reuse_scope_has_cache(const struct reuse_streams *s,
			   enum reuse_scope scope,
			   const struct host_cache *cache);

#endif
