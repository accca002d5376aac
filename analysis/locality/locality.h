/* SPDX-License-Identifier: MIT */
/*
 * locality - reuse times to stack distances to miss ratios
 *
 * A histogram of reuse times (src/engine/reuse_histogram.h) says how long after
 *an access its line is accessed again; a cache asks how many other lines were
 *in between. docs/stack-distance.md has the derivations; in short, with rd =
 * reuse time - 1 and E over the whole stream, an access of reuse distance r
 * finds
 *
 *	distance(r) = E[min(rd, r)]
 *
 * distinct lines in between: of the r accesses, the k-th from the end is the
 * last to its line if its own rd is k or more (StatStack: Eklov and Hagersten,
 * ISPASS 2010). Of what the end of the stream cut off no more is taken as known
 * than that it did not come back until then.
 *
 * A ratio is asked for a part of the stream (a site, a thread, loads alone) or
 * for the stream itself: the stream decides what lies between use and reuse,
 * the part which reuses are counted. What is cold, dangling or invalidated
 * misses in every cache; an invalidated line takes no room from the store on.
 *
 * Context: analysis. Does not allocate. Needs libm.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_LOCALITY_H
#define COMDET_ANALYSIS_LOCALITY_LOCALITY_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/interval.h"
#include "src/engine/reuse_histogram.h"

/* Where survival bends: it is linear, and distance a parabola, in between. */
struct locality_point {
	double rd;
	double survival; /* P(rd of an access > this one) */
	double distance;
};

/*
 * Distances of a stream whose locality changes as it goes on, on top of those
 * of one that stays the same: a line through these points, as steep as the
 * distances themselves beyond the last. Both never fall.
 */
struct locality_bend {
	double uniform; /* distance in a stream without phases */
	double distance;
};

/* A stream made ready; it must not change as long as this is in use. */
struct locality {
	const struct reuse_histogram *stream;
	double total;     /* weight */
	double footprint; /* lines: weight of what is never reused */
	size_t points;    /* at least 1 */
	struct locality_point point[2 * REUSE_BINS + 1];
	size_t bends; /* 0: one phase */
	struct locality_bend bend[REUSE_BINS];
};

/* @stream of no weight is well: every ratio of it is 0. */
void locality_init(struct locality *l, const struct reuse_histogram *stream);

/*
 * Phases. The distance of a reuse is that of the stream while it lasts: a
 * program that builds a table and then looks things up in it has two kinds of
 * windows. For each phase of @l, a part of @width accesses made ready as one,
 * call locality_phase(); then locality_bend() gives @l the mean, over the
 * phases that the uses of a bin are in, of the distances there.
 */
struct locality_phases {
	uint32_t phases;
	double weight[REUSE_BINS], distance[REUSE_BINS];
};

void locality_phase(struct locality_phases *p, const struct locality *l,
		    const struct locality *phase, double width);
void locality_bend(struct locality *l, const struct locality_phases *p);

/* Of @distance in one phase the distance with all, and the other way round. */
double locality_bent(const struct locality *l, double distance);
double locality_unbent(const struct locality *l, double distance);

/* As below, as if there was one phase. */
double locality_uniform_distance(const struct locality *l, double rd);
double locality_uniform_reach(const struct locality *l, double lines);

/* Expected stack distance in lines at reuse distance @rd >= 0. */
double locality_distance(const struct locality *l, double rd);

/* Share of the stream that has not come back after @rd. */
double locality_survival(const struct locality *l, double rd);

/* The least rd at which the distance is @lines, INFINITY if it never is. */
double locality_reach(const struct locality *l, double lines);

/*
 * Share of the accesses in @part that miss in a cache of @lines lines, fully
 * associative, least recently used first out. 0 if @part has no weight.
 *
 * stack: StatStack, miss if the distance, rounded, is @lines or more.
 * aet:   the mean time that a line stays without reuse decides (Hu et al.,
 *        USENIX ATC 2016); differs from StatStack by rounding.
 * shen:  the distance is binomial about its mean instead of being its mean
 *        (Shen, Shaw, Meeker and Ding, POPL 2007).
 */
double locality_miss_stack(const struct locality *l,
			   const struct reuse_histogram *part, double lines);
double locality_miss_aet(const struct locality *l,
			 const struct reuse_histogram *part, double lines);
double locality_miss_shen(const struct locality *l,
			  const struct reuse_histogram *part, double lines);

/*
 * The same in a cache that throws out lines at random (StatCache: Berg and
 * Hagersten, ISPASS 2004): the miss ratio R at which as many lines leave as
 * come, a line outliving rd accesses with probability (1 - 1/lines)^(rd R).
 */
double locality_miss_random(const struct locality *l,
			    const struct reuse_histogram *part, double lines);

/*
 * The same in a cache of @sets sets of @ways lines, least recently used first
 * out: of the lines in between each falls into the set with probability
 * 1 / @sets, and @ways of them push it out.
 */
double locality_miss_ways(const struct locality *l,
			  const struct reuse_histogram *part, uint64_t sets,
			  uint32_t ways);

/*
 * 95 % limits, for what sampling adds, of locality_miss_stack().
 */
struct interval locality_band(const struct locality *l,
			      const struct reuse_histogram *part, double lines);

/* Share of @part that misses if all that is reused from @rd on does. */
double locality_miss_from(const struct reuse_histogram *part, double rd);

/* Where in a bin its mass lies: uniform from low to high, in rd. */
struct locality_span {
	double low, high;
};
struct locality_span locality_span(const struct reuse_mass *m, uint32_t bin);

/* Share of a span that is @rd or more. */
double locality_span_above(struct locality_span s, double rd);

/* Weight of what misses in every cache. */
double locality_never(const struct reuse_histogram *part);

/* Mean over @s of the chance to miss in a cache of @sets sets of @ways lines.
 */
double locality_span_ways(const struct locality *l, struct locality_span s,
			  uint64_t sets, uint32_t ways);

/* P(X >= @k), X binomial of @n trials of @p; @n need not be whole. */
double binomial_tail(double n, double p, double k);

#endif
