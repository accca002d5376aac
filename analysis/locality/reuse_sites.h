/* SPDX-License-Identifier: MIT */
/*
 * reuse_sites - pairs of use and reuse, and the misses of each site
 *
 * The misses of a site are those of the reuses that it makes, in lines, each
 * with the chance that the line has been evicted by then. A use that is never
 * reused (dangling), or whose line another thread stores to (invalidated), has
 * only the site of the use, and no cache misses there. These uses are counted
 * apart.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_REUSE_SITES_H
#define COMDET_ANALYSIS_LOCALITY_REUSE_SITES_H

#include "reuse_streams.h"
#include "analysis/symbols/symbols.h"
#include "src/base/interval.h"

#define REUSE_NO_SITE UINT32_MAX

struct reuse_site {
	struct place place;
	/* For each cache of the machine: */
	double seen[HOST_CACHES_MAX]; /* weight of the reuses here */
	double squares[HOST_CACHES_MAX];
	double miss[HOST_CACHES_MAX]; /* weight of those that miss */
	/* Weights of uses here that have no reuse. */
	double never[REUSE_SCOPES][REUSE_GRANULARITIES];
	double taken[REUSE_SCOPES][REUSE_GRANULARITIES];
};

/* Uses at one site that ended at another. */
struct reuse_pair {
	uint32_t use, reuse; /* REUSE_NO_SITE: unknown, or no reuse */
	enum reuse_scope scope;
	enum reuse_granularity granularity;
	enum reuse_outcome outcome;
	enum reuse_pairing pairing;
	bool ns;
	double weight, sum; /* sum of weight times reuse time */
	double miss[HOST_CACHES_MAX];
};

/* Which records count. */
struct reuse_filter {
	int64_t thread;    /* row, -1: all */
	unsigned pairings; /* bit i: pairing i; 0: all, and those without one */
};

struct reuse_sites {
	struct reuse_site *site; /* by module and offset */
	size_t sites, sites_room;
	struct reuse_pair *pair; /* most weight first */
	size_t pairs, pairs_room;
};

/* True if @r passes the filter. */
bool reuse_filter_counts(const struct reuse_filter *f,
			 const struct reuse_row *r);

void reuse_sites_init(struct reuse_sites *t, const struct reuse_streams *s,
		      struct symbols *symbols,
		      const struct reuse_filter *filter);
void reuse_sites_release(struct reuse_sites *t);

/* The pair that @row is about, without its sites. */
struct reuse_pair reuse_pair_of(const struct profile *p,
				const struct reuse_row *row);

/* Order by all members that make pairs different; 0 means the same pair. */
int reuse_pair_compare(const struct reuse_pair *x, const struct reuse_pair *y);

/* Order by weight, the most first, then as reuse_pair_compare(). */
int reuse_pair_compare_weight(const struct reuse_pair *x,
			      const struct reuse_pair *y);

/* Add the weight, times and misses of @p to those of @to. */
void reuse_pair_add(struct reuse_pair *to, const struct reuse_pair *p);

/* The site at @p; REUSE_NO_SITE if there is none. */
uint32_t reuse_sites_find(const struct reuse_sites *t, const struct place *p);

/* The miss ratio of a site in cache @i; false if no reuse was seen. */
bool reuse_site_ratio(const struct reuse_site *s, size_t i, double *ratio,
		      struct interval *by);

#endif
