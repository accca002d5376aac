/* SPDX-License-Identifier: MIT */
/*
 * span - where the mass of a histogram's bin lies
 *
 * A bin holds reuse times of some range. Its mean and variance say which part
 * of that range its mass covers, taken as uniform.
 *
 * Context: analysis. Does not allocate.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_SPAN_H
#define COMDET_ANALYSIS_LOCALITY_SPAN_H

#include <stdint.h>

#include "src/engine/reuse_histogram.h"

/* From low to high, as reuse time - 1. */
struct locality_span {
	double low, high;
};

/* The span of @m, the mass of bin @bin, which must have weight. */
struct locality_span locality_span(const struct reuse_mass *m, uint32_t bin);

/* The share of a span that is @rd or more. */
double locality_span_above(struct locality_span s, double rd);

/* The weight of what misses in every cache. */
double locality_never(const struct reuse_histogram *part);

/* The share of @part that misses if every reuse from @rd on does. */
double locality_miss_from(const struct reuse_histogram *part, double rd);

#endif
