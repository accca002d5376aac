/* SPDX-License-Identifier: MIT */
/*
 * now - the clock that all events of the watcher use
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_NOW_H
#define COMDET_ANALYSIS_OUTSIDE_NOW_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in ns. */
static inline uint64_t outside_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

#endif
