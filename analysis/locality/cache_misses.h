/* SPDX-License-Identifier: MIT */
/*
 * cache_misses - the misses of caches that were simulated with the program
 *
 * With exact reuses the source emu simulates caches with their sets
 * (src/exact/cache_sets.h). Accesses are to lines: an access that touches two
 * lines counts twice. Depth and shape alone identify a cache in several
 * processes.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_CACHE_MISSES_H
#define COMDET_ANALYSIS_LOCALITY_CACHE_MISSES_H

#include "host_caches.h"
#include "analysis/profile/profile.h"
#include "analysis/symbols/symbols.h"

/* Which accesses to count; -1 means all. */
struct cache_part {
	int64_t thread;          /* row */
	int64_t process, domain; /* of a shared cache */
};

#define CACHE_PART_ALL                                                         \
	(struct cache_part)                                                    \
	{                                                                      \
		-1, -1, -1                                                     \
	}

/* Indexed by whether the access is a store. */
struct cache_count {
	double accesses[2], misses[2];
};

struct cache_sum;

struct cache_misses {
	struct host_cache cache[HOST_CACHES_MAX]; /* the nearest first */
	size_t caches;                            /* 0: none was simulated */
	struct cache_sum *sum;                    /* by thread and cache */
	size_t sums, sums_room;
};

void cache_misses_init(struct cache_misses *m, const struct profile *p);
void cache_misses_release(struct cache_misses *m);

/* False if @cache was not simulated, or nothing in @part accessed it. */
bool cache_misses_count(const struct cache_misses *m,
			const struct host_cache *cache,
			const struct cache_part *part, struct cache_count *c);

/*
 * Choose the caches that a report is about. If a simulated cache is not this
 * machine's, they are the simulated caches, and *@other is true. Else they are
 * this machine's. Returns how many.
 */
size_t cache_misses_choose(const struct cache_misses *m,
			   struct host_cache cache[HOST_CACHES_MAX],
			   bool *other);

static inline double cache_miss_ratio(const struct cache_count *c)
{
	double accesses = c->accesses[0] + c->accesses[1];

	double misses = c->misses[0] + c->misses[1];

	/*
	 * There can be more misses if the file is damaged or still being
	 * written.
	 */
	if (misses > accesses)
		return accesses > 0;
	return accesses > 0 ? misses / accesses : 0;
}

/*
 * The misses of an instruction, or of a source line, in each simulated cache.
 */
struct cache_misser {
	struct place place;
	double miss[HOST_CACHES_MAX][2];
};

struct cache_missers {
	const struct cache_misses *of;
	struct cache_misser *misser;
	size_t missers;
};

/* All instructions with known misses, by module and offset. */
void cache_missers_init(struct cache_missers *m, const struct cache_misses *of,
			const struct profile *p, struct symbols *symbols,
			const struct cache_part *part);
void cache_missers_release(struct cache_missers *m);

/* Sum them by source line, with most misses in cache @by first. */
void cache_missers_join_lines(struct cache_missers *m, size_t by);

#endif
