/* SPDX-License-Identifier: MIT */
/*
 * reuse_streams - what a profile says of reuse, by stream
 *
 * Records are summed into cells: the uses of one thread under one shared cache
 * (of one thread alone if the scope is private, where caches do not matter). A
 * stream is what a user asks for, the union of some cells: a thread, a shared
 * cache, or everything. Its miss ratio is that of its cells, each converted
 * with the distances of the stream that its accesses ran in: the thread's own,
 * or that of all threads under the cache.
 *
 * Weights are accesses where the source counts them. By the clock times are
 * nanoseconds and weights samples: these make streams of their own, of which
 * there is no miss ratio.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_REUSE_STREAMS_H
#define COMDET_ANALYSIS_LOCALITY_REUSE_STREAMS_H

#include <stdbool.h>

#include "cache_misses.h"
#include "mrc.h"
#include "analysis/profile/profile.h"
#include "src/engine/reuse.h"

/* From samples, of every access, or stack distances of every access. */
enum reuse_basis {
	REUSE_SAMPLED,
	REUSE_COUNTED,
	REUSE_DISTANCES,
	REUSE_BASES
};

struct reuse_cell {
	uint32_t process;
	enum reuse_basis basis;
	enum reuse_scope scope;
	enum reuse_granularity granularity;
	int64_t thread; /* row; -1: all under the cache */
	int64_t domain; /* the shared cache; -1: any */
	bool ns;        /* by the clock */
	struct reuse_histogram histogram;
	/* Of it loads and stores that reuse, in lines; else NULL. */
	struct reuse_histogram *kind[2];
	/* Weights: shares no byte; same core (shared); first accesses. */
	double spatial, own, cold;
	double pairing[REUSE_PAIRINGS];
	struct reuse_cell *whole;  /* whose distances apply; may be itself */
	struct locality *locality; /* of a whole in lines, else NULL */
};

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
	struct reuse_cell **cell;
	size_t cells, cells_room;
	struct reuse_stream *stream; /* all first, then caches, then threads */
	size_t streams, streams_room;
	struct host_cache cache[HOST_CACHES_MAX];
	size_t caches;
	struct cache_misses simulated;
	bool other_machine;  /* the caches are not this machine's */
	uint64_t resolution; /* ns that are not told apart; 0: no ns */
};

void reuse_streams_init(struct reuse_streams *s, const struct profile *p);
void reuse_streams_release(struct reuse_streams *s);

/* The first stream of that kind, by accesses if any is, NULL if there is none.
 */
const struct reuse_stream *reuse_streams_find(const struct reuse_streams *s,
					      enum reuse_basis basis,
					      enum reuse_scope scope,
					      enum reuse_granularity g);

/* Is there a miss ratio: of accesses to lines, and not of the scope shared. */
bool reuse_stream_has_misses(const struct reuse_stream *s);

/* All of its cells in one histogram; the other sums if not NULL. */
struct reuse_sums {
	double spatial, own, cold, pairing[REUSE_PAIRINGS];
};
void reuse_stream_sum(const struct reuse_stream *s, struct reuse_histogram *h,
		      struct reuse_sums *sums);

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

/* The cell that a record of @thread and @domain is in, NULL if none. */
struct reuse_cell *reuse_streams_cell(const struct reuse_streams *s,
				      uint32_t process, enum reuse_basis basis,
				      enum reuse_scope scope,
				      enum reuse_granularity granularity,
				      int64_t thread, int64_t domain);

const char *reuse_scope_name(enum reuse_scope scope);
const char *reuse_granularity_name(enum reuse_granularity granularity);

/* Are reuse times of the process nanoseconds, and not accesses? */
bool reuse_in_ns(const struct cdp_header *h);

/* Weight of a record in accesses: what its sums are multiplied by. */
double reuse_record_scale(const struct profile *p, const struct reuse_row *r);

/* Its sums in accesses. */
struct reuse_mass reuse_record_mass(const struct profile *p,
				    const struct reuse_row *r);

/* Add @m to @h as what became of a use, false if it says nothing of it. */
bool reuse_record_add(struct reuse_histogram *h, const struct cdp_reuse *r,
		      enum reuse_basis basis, const struct reuse_mass *m);

/* Give the wholes that samples know the phases of their distances by phase. */
void reuse_streams_bend(struct reuse_streams *s);

/* The number @x of a file, 0 if it is none or absurd. */
double reuse_number(double x);

#endif
