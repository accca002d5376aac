/* SPDX-License-Identifier: MIT */
/*
 * reuse_cells - the reuse records of a profile, summed by thread and cache
 *
 * A cell holds the uses of one thread under one shared cache, or of one thread
 * alone if the scope is private and caches do not matter. The stream in which
 * its accesses ran is its whole: the thread itself, or all threads under the
 * cache. The distances of the whole apply to the cell.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_REUSE_CELLS_H
#define COMDET_ANALYSIS_LOCALITY_REUSE_CELLS_H

#include "locality.h"
#include "reuse_record.h"

struct reuse_cell {
	uint32_t process;
	enum reuse_basis basis;
	enum reuse_scope scope;
	enum reuse_granularity granularity;
	int64_t thread; /* row; -1: all under the cache */
	int64_t domain; /* the shared cache; -1: any */
	bool ns;        /* times are ns, not accesses */
	struct reuse_histogram histogram;
	/*
	 * For lines, histograms of loads and of stores; else NULL. A use counts
	 * by the access that reuses it, or by itself if nothing does.
	 */
	struct reuse_histogram *kind[2];
	/*
	 * Weights: of reuses without a common byte; of uses that their own core
	 * met first (scope shared); of first accesses.
	 */
	double spatial, own, cold;
	double pairing[REUSE_PAIRINGS];
	struct reuse_cell *whole;  /* its distances apply; may be this cell */
	struct locality *locality; /* if this is a whole, in lines; else NULL */
};

struct reuse_cells {
	const struct profile *profile;
	struct reuse_cell **cell;
	size_t count, room;
};

void reuse_cells_init(struct reuse_cells *s, const struct profile *p);
void reuse_cells_release(struct reuse_cells *s);

/* The cell of the records of @thread under @domain; NULL if there is none. */
struct reuse_cell *reuse_cells_find(const struct reuse_cells *s,
				    uint32_t process, enum reuse_basis basis,
				    enum reuse_scope scope,
				    enum reuse_granularity granularity,
				    int64_t thread, int64_t domain);

#endif
