/* SPDX-License-Identifier: MIT */
/*
 * host_caches - the data caches of this machine, from the first core outwards
 */
#ifndef COMDET_ANALYSIS_LOCALITY_HOST_CACHES_H
#define COMDET_ANALYSIS_LOCALITY_HOST_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HOST_CACHES_MAX = 5
};

struct host_cache {
	char name[8]; /* L1d, L2, L3 */
	uint64_t bytes;
	uint32_t line_bytes;
	uint64_t sets; /* 1: fully associative, or unknown */
	uint32_t ways; /* 0: unknown */
	uint32_t cores;
	bool shared; /* several cores share it */
};

/*
 * Write the caches between one core and memory to @cache, the nearest first.
 * Where cores differ (hybrid processors), these are the first core's. Returns
 * how many; 0 if the machine does not say.
 */
size_t host_caches(struct host_cache cache[HOST_CACHES_MAX]);

/* The ways to compute with: as many as lines where they are unknown. */
static inline uint32_t host_cache_ways(const struct host_cache *c)
{
	return c->ways ? c->ways : (uint32_t)(c->bytes / c->line_bytes);
}

#endif
