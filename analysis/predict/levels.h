/* SPDX-License-Identifier: MIT */
/*
 * levels - which cache of a machine has the line of an access
 *
 * By its depth, where the profile has depths for that many sets and ways; else,
 * and in a cache that several threads share, by its reuse time: the cache is
 * then fully associative, and an access misses if its expected stack distance
 * is the cache's number of lines or more (StatStack: Eklov and Hagersten,
 * ISPASS 2010).
 */
#ifndef COMDET_ANALYSIS_PREDICT_LEVELS_H
#define COMDET_ANALYSIS_PREDICT_LEVELS_H

#include "workload.h"
#include "analysis/model/caches.h"

struct levels_cache {
	int size;      /* which depth; -1: reuse times decide */
	uint32_t ways; /* an access of this depth misses */
	uint32_t bin;  /* an access with a reuse time of this bin misses */
	double partly; /* the share of the bin before it that misses */
	bool global;   /* depths and reuse times are among all threads */
};

struct levels {
	/* First caches and second cache of the core, and the last cache. */
	struct levels_cache l1i, l1d, l2, llc;
	uint32_t prefetcher; /* enum machine_prefetcher */
	bool turns;          /* machine_has_turns */
};

/* Misses of accesses of one kind; each no more than the one before. */
struct levels_misses {
	double accesses, l1, l2, llc;
	double core; /* of those of l2 that hit llc: other cores had stored */
};

/*
 * For thread @thread of @w on @m. With @paper reuse times decide always, as in
 * RPPM.
 */
void levels_init(struct levels *l, const struct workload *w, size_t thread,
		 const struct machine *m, bool paper);

enum caches_level levels_of_data(const struct levels *l,
				 const struct micro_access *a);
enum caches_level levels_of_code(const struct levels *l,
				 const struct micro_access *a);

enum {
	LEVELS_CODE_SHIFT = 4, /* data in the bits below */
	LEVELS_DATA_MASK = (1 << LEVELS_CODE_SHIFT) - 1,
};

/*
 * The levels of the accesses of a micro-trace, by micro-operation; LEVEL_L1 if
 * it has none. Returns which occur, a bit for each, and LEVEL_L1.
 */
unsigned int levels_of_micro(const struct levels *l,
			     const struct workload_thread *t,
			     const struct micro_trace *m,
			     uint8_t level[MICRO_UOPS]);

struct levels_misses levels_count(const struct levels *l,
				  const struct window *w,
				  enum window_kind kind);

#endif
