/* SPDX-License-Identifier: MIT */
/*
 * reuse_histogram - what sampled uses say of the reuse times of a stream
 *
 * A stream is a sequence of accesses: those of a thread, or of all threads
 * under a cache. A use is one of them; what became of it is
 *
 *	reused         at reuse time T >= 1, in accesses of the stream: 1 is the
 *	               very next access (A B B A: A's is 3)
 *	invalidated    a store from elsewhere came first; T is what it would be
 *	               had that store been the stream's next access
 *	never reused   up to the end of the stream, T accesses later
 *
 * The same can be told looking back from each access: one that has none before
 * it is cold, T the accesses from the beginning of the stream up to it. A line
 * has one last access and one first, so either is the misses that any cache
 * has. A histogram is filled from one side, never from both.
 *
 * Weights. A use that was followed with probability p has weight 1/p, so that
 * weights are accesses and their sum estimates the length of the stream
 * (Horvitz and Thompson, JASA 47, 1952). Who counts every access gives weight
 * 1. The sum of the squares gives the variance: a use contributes
 * w^2 (1 - p) = w^2 - w, which is 0 where all were counted.
 *
 * Bins. Times below 8 have a bin each, then each octave has 8. Moments within
 * the bin keep what bins alone lose: a sweep over 2^k lines has one reuse time,
 * and a cache of 2^k lines is hit by all of it or by none.
 *
 * One writer. Each field is one aligned word, so a reader of a live histogram
 * sees sums that are at most one use apart. Does not allocate. Any context
 * that may use floating point.
 */
#ifndef COMDET_ENGINE_REUSE_HISTOGRAM_H
#define COMDET_ENGINE_REUSE_HISTOGRAM_H

#include <stdint.h>

enum {
	REUSE_SUB_BITS = 3, /* log2 of the bins in an octave */
	REUSE_SUBS = 1 << REUSE_SUB_BITS,
	REUSE_TIME_BITS = 48, /* longer times are taken for the longest */
	REUSE_BINS =
		REUSE_SUBS + (REUSE_TIME_BITS - REUSE_SUB_BITS) * REUSE_SUBS,
};

struct reuse_mass {
	double weight;  /* sum of w */
	double squares; /* sum of w^2 */
	/* Sums of w x and w x^2, x the time less the low end of the bin. */
	double offset, offset_squares;
};

struct reuse_histogram {
	struct reuse_mass reuse[REUSE_BINS];       /* by reuse time */
	struct reuse_mass invalidated[REUSE_BINS]; /* by time to the store */
	struct reuse_mass never[REUSE_BINS];       /* by time to the end */
	uint64_t uses;                             /* how many were added */
};

/* The bin of a time. 0 is no reuse time and shares no bin with one. */
uint32_t reuse_bin_of(uint64_t time);
/* A bin holds times from its low end to below its high end. */
uint64_t reuse_bin_low(uint32_t bin);
uint64_t reuse_bin_high(uint32_t bin);

/*
 * One use of @weight >= 1 that was reused, invalidated or cut off by the end
 * after @time >= 1; of the last two UINT64_MAX if it is not known.
 */
void reuse_histogram_add(struct reuse_histogram *h, uint64_t time,
			 double weight);
void reuse_histogram_add_invalidated(struct reuse_histogram *h, uint64_t time,
				     double weight);
void reuse_histogram_add_never(struct reuse_histogram *h, uint64_t time,
			       double weight);

/* Add all that is in @from to @to: threads to a process, sites to a thread. */
void reuse_histogram_merge(struct reuse_histogram *to,
			   const struct reuse_histogram *from);
void reuse_mass_merge(struct reuse_mass *to, const struct reuse_mass *from);

/* Sums over a histogram; the offsets are 0. */
struct reuse_mass reuse_histogram_reused(const struct reuse_histogram *h);
struct reuse_mass reuse_histogram_invalidated(const struct reuse_histogram *h);
struct reuse_mass reuse_histogram_never(const struct reuse_histogram *h);
struct reuse_mass reuse_histogram_total(const struct reuse_histogram *h);

/* Mean time of what is in bin @bin, its low end if nothing is. */
double reuse_mass_mean(const struct reuse_mass *m, uint32_t bin);

/* What sampling adds to the variance of the weight. */
static inline double reuse_mass_variance(const struct reuse_mass *m)
{
	return m->squares > m->weight ? m->squares - m->weight : 0;
}

#endif
