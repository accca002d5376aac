/* SPDX-License-Identifier: MIT */
/*
 * mrc - miss ratio curves: the miss ratio of a stream at each cache size
 *
 * Sizes run from 4 KiB to 1 GiB, three to an octave. The ratios are those of
 * fully associative caches with the stream's line size; mrc_cache() gives the
 * expected ratio of a real cache with its sets.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_MRC_H
#define COMDET_ANALYSIS_LOCALITY_MRC_H

#include <stdbool.h>
#include <stdio.h>

#include "host_caches.h"
#include "locality.h"
#include "src/base/interval.h"

enum {
	MRC_OCTAVE_MIN = 12, /* 4 KiB */
	MRC_OCTAVE_MAX = 30, /* 1 GiB */
	MRC_OCTAVE_POINTS = 3,
	MRC_POINTS = (MRC_OCTAVE_MAX - MRC_OCTAVE_MIN) * MRC_OCTAVE_POINTS + 1,
};

struct mrc_point {
	double bytes;
	double lru;         /* StatStack */
	struct interval by; /* 95 %, of lru; band.h */
	/* At powers of two only, else NAN. */
	double random; /* StatCache */
	double aet;
};

struct mrc {
	struct mrc_point point[MRC_POINTS];
};

/* What a cache is expected to miss. */
struct mrc_cache {
	const struct host_cache *cache;
	double miss_ratio;
	struct interval by;
	double whole;     /* ratio if it were fully associative */
	double simulated; /* every access, with its sets; NAN: not simulated */
};

/* The curve of @part of the stream @l, whose lines have @line_bytes. */
void mrc_compute(struct mrc *m, const struct locality *l,
		 const struct reuse_histogram *part, uint32_t line_bytes);

/*
 * The miss ratio of @part in @cache. The limits are those of a fully
 * associative cache of its size, shifted by the effect of the sets.
 */
struct mrc_cache mrc_cache(const struct locality *l,
			   const struct reuse_histogram *part,
			   const struct host_cache *cache);

/*
 * Combine the curves of several streams, each with the weight of its accesses:
 * add them one by one to @sum, which has @weight so far.
 */
void mrc_add(struct mrc *sum, double weight, const struct mrc *m, double w);
void mrc_cache_add(struct mrc_cache *sum, double weight,
		   const struct mrc_cache *c, double w);

/*
 * From stack distances that were counted, in lines: the share at @lines or
 * more, and their curve. Exact at powers of two.
 */
double mrc_distances_from(const struct reuse_histogram *distances,
			  double lines);
void mrc_of_distances(struct mrc *m, const struct reuse_histogram *distances,
		      uint32_t line_bytes);

/* The smallest round number, in percent, above the curve and its band. */
double mrc_top(const struct mrc *m);

/*
 * Draw the curve as text of at most 72 columns, each line indented by @indent:
 * '*' is the ratio, ':' its limits where they are further apart than a row. The
 * sizes of @n caches are marked below, with the number in their names.
 */
void mrc_plot(FILE *f, const struct mrc *m, const struct mrc_cache *cache,
	      size_t n, int indent);

/* Draw several curves as one SVG picture with axes, bands and a key. */
struct mrc_named {
	const char *name; /* UTF-8 */
	const struct mrc *mrc;
};
void mrc_svg(FILE *f, const char *title, const struct mrc_named *curve,
	     size_t curves, const struct mrc_cache *cache, size_t caches);

/* "4 KiB", "1.5 MiB", "1 GiB"; valid as long as count_text's. */
const char *size_text(double bytes);

#endif
