/* SPDX-License-Identifier: MIT */
/*
 * latency - what this machine's DRAM and cache line transfers take
 *
 * Both are loads that wait for each other: a chain of lines in random order, so
 * that neither prefetchers nor overlap help. Batches are timed one by one and
 * their median is taken, which an interruption does not move. They come in
 * groups, since batches in a row have more in common than their median tells.
 *
 * Context: analysis. Makes a thread, changes the caller's affinity for a while
 * and takes the memory it says. Some two seconds.
 */
#ifndef COMDET_ANALYSIS_LOCALITY_LATENCY_H
#define COMDET_ANALYSIS_LOCALITY_LATENCY_H

#include <stdint.h>

#include "src/base/interval.h"

struct latency {
	double ns;
	struct interval by; /* 95 %, of the median */
};

enum {
	LATENCY_GROUPS = 6
};

/*
 * The median of LATENCY_GROUPS times @n values, the groups one after the other,
 * which it sorts. Limits are the least and the greatest median of a group: that
 * all six are on one side of what groups have in the median happens once in 32.
 */
struct latency latency_median(double *value, int n);

/*
 * A load from DRAM: of a chain through four times @llc_bytes, at least 64 MiB,
 * in huge pages where the kernel gives them.
 * Returns 0 or -errno.
 */
int latency_of_dram(uint64_t llc_bytes, struct latency *l);

/*
 * A load of a line that another core has modified. Of the processors that this
 * process may use two of different cores are taken, of one if there is one
 * only. Returns 0, or -errno: -ENODEV if it may use one processor alone.
 */
int latency_of_transfer(struct latency *l);

#endif
