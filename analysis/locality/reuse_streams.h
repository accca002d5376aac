/* SPDX-License-Identifier: MIT */
/*
 * reuse_streams - what a profile says of reuse, by stream
 *
 * A stream is what a user asks for, the union of some cells (reuse_cells.h): a
 * thread, a shared cache, or everything. Its miss ratio (reuse_misses.h) is
 * that of its cells, each converted with the distances of its whole.
 *
 * Weights are accesses where the source counts them. The source clock measures
 * times in nanoseconds and weights in samples: these make streams of their own,
 * which have no miss ratio.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_REUSE_STREAMS_H
#define COMDET_ANALYSIS_LOCALITY_REUSE_STREAMS_H

#include <stdbool.h>

#include "cache_misses.h"
#include "host_caches.h"
#include "reuse_cells.h"

struct reuse_stream {
	enum reuse_basis basis;
	enum reuse_scope scope;
	enum reuse_granularity granularity;
	int64_t thread, domain; /* -1: all */
	bool ns;
	struct reuse_cell **cell;
	size_t cells;
};

struct reuse_streams {
	const struct profile *profile;
	struct reuse_cells cells;
	struct reuse_stream *stream; /* all first, then caches, then threads */
	size_t streams, streams_room;
	struct host_cache cache[HOST_CACHES_MAX];
	size_t caches;
	struct cache_misses simulated;
	bool other_machine;  /* the caches are not this machine's */
	uint64_t resolution; /* ns; shorter times look alike; 0: no ns */
};

void reuse_streams_init(struct reuse_streams *s, const struct profile *p);
void reuse_streams_release(struct reuse_streams *s);

/* The first stream of that kind, in accesses before ns; NULL if none. */
const struct reuse_stream *reuse_streams_find(const struct reuse_streams *s,
					      enum reuse_basis basis,
					      enum reuse_scope scope,
					      enum reuse_granularity g);

struct reuse_sums {
	double spatial, own, cold, pairing[REUSE_PAIRINGS];
};

/* Sum the cells of @s into @h and, unless it is NULL, @sums. */
void reuse_stream_sum(const struct reuse_stream *s, struct reuse_histogram *h,
		      struct reuse_sums *sums);

#endif
