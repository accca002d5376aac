/* SPDX-License-Identifier: MIT */
/*
 * adjacent - predict whether an adjacent-line prefetcher pays
 *
 * Such a prefetcher (Intel's "adjacent cache line prefetch") fetches, with each
 * line that misses, the other line of its aligned pair. A program that walks
 * through memory in order waits for DRAM half as often; a program with false
 * sharing loses still more lines to other cores. The gain is the difference
 * (Sasongko's thesis, 6.5.7):
 *
 *	G = R_dram L_dram - R_fs L_fs
 *
 * R_dram	private reuses of lines that are spatial (use and reuse have no
 *		byte in common) and come so late that the line has left the
 *		shared cache
 * R_fs		spatial reuses by another core of what was stored (RAW, WAW),
 *		so soon that the line is still in the private caches
 *
 * R is in accesses, L the latency of DRAM and of a line that another core has
 * modified. The thesis does not say how to compare reuse times with caches;
 * here the stack distance is compared (locality.h). A thread's line has left
 * the shared cache when all threads of the process together, each with its
 * share of the accesses, have touched as many lines as the cache holds.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_ADJACENT_H
#define COMDET_ANALYSIS_LOCALITY_ADJACENT_H

#include "latency.h"
#include "reuse_streams.h"

struct adjacent_machine {
	struct latency dram, transfer;
	uint64_t llc_bytes;     /* of the cache that threads share */
	uint64_t private_bytes; /* of the largest private cache */
};

struct adjacent_estimate {
	double value;
	struct interval by; /* 95 % */
};

enum adjacent_verdict {
	ADJACENT_GAIN,
	ADJACENT_LOSS,
	ADJACENT_NOTHING, /* neither was seen: no gain, no loss */
	ADJACENT_OPEN,    /* the interval of G contains 0 */
};

struct adjacent {
	struct adjacent_estimate dram, sharing; /* reuses */
	struct adjacent_estimate gain;          /* G, ns of all threads */
	double accesses;
	enum adjacent_verdict verdict;
};

/*
 * NULL if @s has all that adjacent_predict() needs, else a text that says what
 * is missing.
 */
const char *adjacent_lacks(const struct reuse_streams *s);

/*
 * The intervals cover sampling and the latencies' own errors. Exact counts are
 * used if nothing was sampled.
 */
void adjacent_predict(struct adjacent *a, const struct reuse_streams *s,
		      const struct adjacent_machine *m);

#endif
