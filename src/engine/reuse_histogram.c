/* SPDX-License-Identifier: MIT */
/*
 * reuse_histogram - the reuse times of a stream, estimated from samples
 */
#include <stddef.h>

#include "reuse_histogram.h"
#include "src/base/signal_safe.h"

uint32_t reuse_bin_of(uint64_t time)
{
	uint32_t octave;

	if (time >> REUSE_TIME_BITS)
		time = (UINT64_C(1) << REUSE_TIME_BITS) - 1;
	if (time < REUSE_SUBS)
		return (uint32_t)time;
	octave = 63 - (uint32_t)__builtin_clzll(time) - REUSE_SUB_BITS;
	return (octave << REUSE_SUB_BITS) + (uint32_t)(time >> octave);
}

uint64_t reuse_bin_low(uint32_t bin)
{
	uint32_t octave = bin >> REUSE_SUB_BITS;

	if (octave < 2)
		return bin;
	octave--;
	return (uint64_t)(bin - (octave << REUSE_SUB_BITS)) << octave;
}

uint64_t reuse_bin_high(uint32_t bin)
{
	return reuse_bin_low(bin + 1);
}

static void add(struct reuse_mass *bins, uint64_t time, double weight)
{
	uint32_t bin = reuse_bin_of(time);
	struct reuse_mass *m = &bins[bin];
	uint64_t low = reuse_bin_low(bin), high = reuse_bin_high(bin);
	double x = (double)((time < high ? time : high - 1) - low);

	m->weight += weight;
	m->squares += weight * weight;
	m->offset += weight * x;
	m->offset_squares += weight * x * x;
}

void reuse_histogram_add(struct reuse_histogram *h, uint64_t time,
			 double weight)
{
	add(h->reuse, time, weight);
	h->uses++;
}

void reuse_histogram_add_invalidated(struct reuse_histogram *h, uint64_t time,
				     double weight)
{
	add(h->invalidated, time, weight);
	h->uses++;
}

void reuse_histogram_add_never(struct reuse_histogram *h, uint64_t time,
			       double weight)
{
	add(h->never, time, weight);
	h->uses++;
}

void reuse_mass_merge(struct reuse_mass *to, const struct reuse_mass *from)
{
	to->weight += from->weight;
	to->squares += from->squares;
	to->offset += from->offset;
	to->offset_squares += from->offset_squares;
}

void reuse_histogram_merge(struct reuse_histogram *to,
			   const struct reuse_histogram *from)
{
	for (uint32_t i = 0; i < REUSE_BINS; i++) {
		if (from->reuse[i].weight > 0)
			reuse_mass_merge(&to->reuse[i], &from->reuse[i]);
		if (from->invalidated[i].weight > 0)
			reuse_mass_merge(&to->invalidated[i],
					 &from->invalidated[i]);
		if (from->never[i].weight > 0)
			reuse_mass_merge(&to->never[i], &from->never[i]);
	}
	to->uses += from->uses;
}

static void add_weights(struct reuse_mass *sum, const struct reuse_mass *bins,
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sum->weight += bins[i].weight;
		sum->squares += bins[i].squares;
	}
}

struct reuse_mass reuse_histogram_reused(const struct reuse_histogram *h)
{
	struct reuse_mass sum = { 0 };

	add_weights(&sum, h->reuse, REUSE_BINS);
	return sum;
}

struct reuse_mass reuse_histogram_invalidated(const struct reuse_histogram *h)
{
	struct reuse_mass sum = { 0 };

	add_weights(&sum, h->invalidated, REUSE_BINS);
	return sum;
}

struct reuse_mass reuse_histogram_never(const struct reuse_histogram *h)
{
	struct reuse_mass sum = { 0 };

	add_weights(&sum, h->never, REUSE_BINS);
	return sum;
}

struct reuse_mass reuse_histogram_total(const struct reuse_histogram *h)
{
	struct reuse_mass sum = { 0 };

	add_weights(&sum, h->reuse, REUSE_BINS);
	add_weights(&sum, h->invalidated, REUSE_BINS);
	add_weights(&sum, h->never, REUSE_BINS);
	return sum;
}

double reuse_mass_mean(const struct reuse_mass *m, uint32_t bin)
{
	double low = (double)reuse_bin_low(bin);

	return m->weight > 0 ? low + m->offset / m->weight : low;
}
