/* SPDX-License-Identifier: MIT */
/*
 * binomial - miss ratios where the number of lines in between is random
 *
 * Shen's formula (Shen, Shaw, Meeker and Ding, POPL 2007) takes the stack
 * distance as binomial, with StatStack's as its mean. In a set-associative
 * cache the number of those lines that fall into the set is binomial too.
 *
 * Context: analysis. Does not allocate. Needs libm.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_BINOMIAL_H
#define COMDET_ANALYSIS_LOCALITY_BINOMIAL_H

#include "span.h"
#include "survival.h"

/* As locality_miss_stack(), by Shen's formula. */
double locality_miss_shen(const struct locality *l,
			  const struct reuse_histogram *part, double lines);

/*
 * As locality_miss_stack(), in a cache of @sets sets of @ways lines with LRU in
 * each set: each line in between falls into the set with probability 1 / @sets,
 * and @ways of them evict the line.
 */
double locality_miss_ways(const struct locality *l,
			  const struct reuse_histogram *part, uint64_t sets,
			  uint32_t ways);

/* The mean, over the reuses in @s, of the chance to miss in that cache. */
double locality_span_ways(const struct locality *l, struct locality_span s,
			  uint64_t sets, uint32_t ways);

/* P(X >= @k), X binomial of @n trials of @p; @n need not be whole. */
double binomial_tail(double n, double p, double k);

#endif
