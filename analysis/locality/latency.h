/* SPDX-License-Identifier: MIT */
/*
 * latency - measure how long DRAM and cache line transfers take here
 *
 * Both are measured with loads that wait for each other: a chain of lines in
 * random order, so that neither prefetchers nor overlap help. Batches are timed
 * one by one; their median does not change if a few are interrupted. They come
 * in groups. Batches in a row resemble each other more than independent ones
 * would, so their spread alone would make the result look too exact: the
 * interval is that of the groups' medians.
 *
 * Context: analysis. Starts a thread, changes the caller's affinity for a while
 * and allocates the memory it names. Takes about two seconds.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_LATENCY_H
#define COMDET_ANALYSIS_LOCALITY_LATENCY_H

#include <stdint.h>

#include "src/base/interval.h"

struct latency {
	double ns;
	struct interval by; /* 95 % interval of the median */
};

enum {
	LATENCY_GROUPS = 6
};

/*
 * The median of LATENCY_GROUPS times @n values, the groups one after the other;
 * sorts @value. The limits are the least and the greatest median of a group.
 * They miss the true median only if the medians of all six groups lie on the
 * same side of it, which happens once in 32 times.
 */
struct latency latency_median(double *value, int n);

/*
 * Measure a load from DRAM, with a chain through four times @llc_bytes and at
 * least 64 MiB, in huge pages where the kernel gives them. Returns 0 or -errno.
 */
int latency_of_dram(uint64_t llc_bytes, struct latency *l);

/*
 * Measure a load of a line that another core has modified. Uses two processors
 * that this process may run on, of different cores if possible. Returns 0, or
 * -errno: -ENODEV if it may run on one processor only.
 */
int latency_of_transfer(struct latency *l);

#endif
