/* SPDX-License-Identifier: MIT */
/*
 * reuse_histogram - the reuse times of a stream, estimated from samples
 *
 * A stream is a sequence of accesses: those of a thread, or of all threads
 * under a cache. A use is one of them, and was
 *
 *	reused         at reuse time T >= 1, in accesses of the stream: 1 is the
 *	               very next access (A B B A: A's is 3)
 *	invalidated    by a store from elsewhere; T counts that store as the
 *	               stream's next access
 *	never reused   before the end of the stream, T accesses later
 *
 * Seen backwards, an access without an earlier one to its line is cold; its T
 * is the number of accesses from the beginning of the stream. Each line has one
 * first and one last access, so both views give the misses that every cache
 * has. A histogram is filled from one side, never from both.
 *
 * Weights. A use that was followed with probability p has weight 1/p, so
 * weights are accesses and their sum estimates the length of the stream
 * (Horvitz and Thompson, JASA 47, 1952). Exact counts have weight 1. The sum of
 * the squares gives the variance: a use contributes w^2 (1 - p) = w^2 - w,
 * which is 0 for exact counts.
 *
 * Bins. Each time below 8 has a bin, each octave above has 8 bins. A bin also
 * keeps moments of the times in it: a sweep over 2^k lines has one reuse time,
 * and either all or none of its accesses hit a cache of 2^k lines.
 *
 * One writer. Each field is one aligned word, so a reader of a live histogram
 * sees sums that are at most one use apart. Does not allocate. Context: any
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

/* The bin of a time. 0 is not a reuse time and has a bin of its own. */
uint32_t reuse_bin_of(uint64_t time);
/* A bin holds times from its low end to below its high end. */
uint64_t reuse_bin_low(uint32_t bin);
uint64_t reuse_bin_high(uint32_t bin);

/*
 * Add a use of @weight >= 1 that was reused, invalidated or cut off by the end
 * after @time >= 1. For the last two an unknown time is UINT64_MAX.
 */
void reuse_histogram_add(struct reuse_histogram *h, uint64_t time,
			 double weight);
void reuse_histogram_add_invalidated(struct reuse_histogram *h, uint64_t time,
				     double weight);
void reuse_histogram_add_never(struct reuse_histogram *h, uint64_t time,
			       double weight);

/* Add @from to @to, for example a thread's histogram to its process's. */
void reuse_histogram_merge(struct reuse_histogram *to,
			   const struct reuse_histogram *from);
void reuse_mass_merge(struct reuse_mass *to, const struct reuse_mass *from);

/* Sums over a histogram; the offsets are 0. */
struct reuse_mass reuse_histogram_reused(const struct reuse_histogram *h);
struct reuse_mass reuse_histogram_invalidated(const struct reuse_histogram *h);
struct reuse_mass reuse_histogram_never(const struct reuse_histogram *h);
struct reuse_mass reuse_histogram_total(const struct reuse_histogram *h);

/* Mean time of the uses in bin @bin, its low end if there are none. */
double reuse_mass_mean(const struct reuse_mass *m, uint32_t bin);

/* The variance of the weight that is due to sampling. */
static inline double reuse_mass_variance(const struct reuse_mass *m)
{
	return m->squares > m->weight ? m->squares - m->weight : 0;
}

#endif
