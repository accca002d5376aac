/* SPDX-License-Identifier: MIT */
/*
 * span - where the mass of a histogram's bin lies
 */
#include <math.h>

#include "span.h"

struct locality_span locality_span(const struct reuse_mass *m, uint32_t bin)
{
	double low = (double)reuse_bin_low(bin);
	double high = (double)reuse_bin_high(bin) - 1;
	double mean = low + m->offset / m->weight, shift, spread, half;
	struct locality_span s;

	/* n whole numbers in a row have variance (n^2 - 1) / 12. */
	shift = m->offset / m->weight;
	spread = fmax(0, m->offset_squares / m->weight - shift * shift);
	half = (sqrt(12 * spread + 1) - 1) / 2;
	s.low = fmax(mean - half, low) - 1;
	s.high = fmin(mean + half, high) - 1;
	return s;
}

double locality_span_above(struct locality_span s, double rd)
{
	if (s.low >= rd)
		return 1;
	if (s.high <= rd)
		return 0;
	return (s.high - rd) / (s.high - s.low);
}

double locality_never(const struct reuse_histogram *part)
{
	return reuse_histogram_invalidated(part).weight +
	       reuse_histogram_never(part).weight;
}

double locality_miss_from(const struct reuse_histogram *part, double rd)
{
	double total = reuse_histogram_total(part).weight;
	double miss = locality_never(part);

	if (!(total > 0))
		return 0;
	for (uint32_t i = REUSE_BINS; i-- > 0;) {
		const struct reuse_mass *m = &part->reuse[i];

		if ((double)reuse_bin_high(i) <= rd)
			break;
		if (m->weight > 0)
			miss += m->weight *
				locality_span_above(locality_span(m, i), rd);
	}
	return fmin(1, miss / total);
}
