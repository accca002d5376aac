/* SPDX-License-Identifier: MIT */
/*
 * transfer_tally - estimates by pair of threads, with their variance
 *
 * Add up chains (transfer.h). Each sample contributes its credit z to a cell
 * once. The estimate is the sum of z, its variance
 *
 *	V = sum z^2 - (1 - c^2) (sum z)^2 / n
 *
 * n is the number of all samples that the counter delivered, of loads too if it
 * counts them, and c^2 = variance of its interval / period^2.
 *
 * A tally belongs to one thread, or to the holder of a lock. Merge the tallies
 * of several threads with transfer_tally_merge. Nothing here needs libm.
 */
#ifndef COMDET_ENGINE_TRANSFER_TALLY_H
#define COMDET_ENGINE_TRANSFER_TALLY_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/interval.h"
#include "transfer.h"

enum transfer_share {
	TRANSFER_ALL,
	TRANSFER_TRUE,
	TRANSFER_FALSE,
	TRANSFER_SHARES
};

struct transfer_moment {
	double sum, square; /* of z */
};

/* Of threads a and b, a < b, or of all together. */
struct transfer_cell {
	struct transfer_moment share[TRANSFER_SHARES];
	double a_to_b;    /* part of the sum of all; the rest is b to a */
	uint64_t seen;    /* transfers, unweighted */
	uint64_t samples; /* samples that contributed */
};

/* Add @from, of other samples, to @to. Context: any. */
void transfer_cell_add(struct transfer_cell *to,
		       const struct transfer_cell *from);

struct transfer_tally;

/* Bytes for @threads threads, 0 if they are too many. */
size_t transfer_tally_size(uint32_t threads);

/* Make an empty tally in @mem, all zero, aligned to 64. Context: set-up. */
struct transfer_tally *transfer_tally_init(void *mem, uint32_t threads);

/* Context: any; for one tally at a time. */
void transfer_tally_add(struct transfer_tally *t,
			const struct transfer_chain *c);

/* Add @from, of as many threads, to @t. */
void transfer_tally_merge(struct transfer_tally *t,
			  const struct transfer_tally *from);

/* The cell of threads @a and @b, in any order, not equal. Context: any. */
const struct transfer_cell *transfer_tally_cell(const struct transfer_tally *t,
						uint32_t a, uint32_t b);

/* All cells as one; a_to_b has no meaning. */
const struct transfer_cell *transfer_tally_total(
	const struct transfer_tally *t);

/* How the samples of a tally were taken. */
struct transfer_sampling {
	double samples;    /* n above */
	double jitter;     /* c^2 above: 1/12 if uniform over one period */
	double systematic; /* relative, added in quadrature; 0: sampling only */
	double weight;     /* transfers that one sample stands for; 0: unknown.
			      Used only if none was seen */
};

/* V above, at least 0. */
double transfer_variance(const struct transfer_moment *m,
			 const struct transfer_sampling *s);

/*
 * 95 % score interval: from the lowest to the highest mean that is 1.96
 * standard deviations from the estimate, with a variance proportional to the
 * mean. It is sum +- 1.96 sqrt(V) where many samples contribute. If nothing was
 * seen it ends at 3.69 weights: a Poisson variate of that mean is 0 in 2.5 % of
 * cases.
 */
struct interval transfer_interval(const struct transfer_moment *m,
				  const struct transfer_sampling *s);

#endif
