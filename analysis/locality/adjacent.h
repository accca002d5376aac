/* SPDX-License-Identifier: MIT */
/*
 * adjacent - does an adjacent-line prefetcher pay for what it costs
 *
 * Such a prefetcher (Intel's "adjacent cache line prefetch") fetches, with each
 * line that is missed, the other one of its aligned pair. Who goes through
 * memory in order waits for DRAM half as often; who shares lines falsely has
 * still more of them taken away. Which of the two is more (Sasongko's thesis,
 * 6.5.7):
 *
 *	G = R_dram L_dram - R_fs L_fs
 *
 * R_dram	private reuses of lines that are spatial, use and reuse have no
 *		byte in common, and come so late that the line is out of the
 *		shared cache
 * R_fs		spatial reuses by another core of what was stored (RAW, WAW),
 *		so soon that the line is still in the private caches
 *
 * both in accesses, and L the latencies of DRAM and of a line that another core
 * has modified. The thesis leaves open how reuse times are compared with
 * caches: here by stack distance (locality.h). A thread's line is out of the
 * shared cache when all threads of the process together, each at its share of
 * the accesses, have gone through as many lines as it has.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_ADJACENT_H
#define COMDET_ANALYSIS_LOCALITY_ADJACENT_H

#include "latency.h"
#include "reuse_streams.h"

struct adjacent_machine {
	struct latency dram, transfer;
	uint64_t llc_bytes;     /* shared by the threads */
	uint64_t private_bytes; /* of the largest private cache */
};

struct adjacent_estimate {
	double value;
	struct interval by; /* 95 % */
};

enum adjacent_verdict {
	ADJACENT_GAIN,
	ADJACENT_LOSS,
	ADJACENT_NOTHING, /* neither was seen: nothing to win or to lose */
	ADJACENT_OPEN,    /* the limits of G have both signs */
};

struct adjacent {
	struct adjacent_estimate dram, sharing; /* reuses */
	struct adjacent_estimate gain;          /* G, ns of all threads */
	double accesses;
	enum adjacent_verdict verdict;
};

/* What adjacent_predict needs of @s, or a text that says what is missing. */
const char *adjacent_lacks(const struct reuse_streams *s);

/*
 * Limits are of what sampling leaves open and of the latencies' own. What was
 * counted is taken if nothing was sampled.
 */
void adjacent_predict(struct adjacent *a, const struct reuse_streams *s,
		      const struct adjacent_machine *m);

#endif
