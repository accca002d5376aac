/* SPDX-License-Identifier: MIT */
/*
 * cost - what an interrupt of the clock costs the interrupted thread
 */
#include <time.h>
#include <unistd.h>

#include "cost.h"
#include "analysis/outside/event.h"
#include "analysis/outside/rings.h"

enum {
	PERIOD_NS = 50 * 1000,
	STEPS = 1000 * 1000,
	TRIES = 9,
	RING_PAGES = 8,
	UNKNOWN_NS = 5000,
	LEAST_NS = 1000,
	MOST_NS = 50000,
};

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* The CPU time of a loop, the least of several. */
static uint64_t loop_ns(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t begin = cpu_ns(), took;

		for (volatile int k = 0; k < STEPS; k++)
			;
		took = cpu_ns() - begin;
		if (took < least)
			least = took;
	}
	return least;
}

uint64_t cost_of_interrupt(void)
{
	struct perf_event_attr a = event_clock(PERIOD_NS, false, false);
	struct outside_ring ring = { 0 };
	uint64_t without, with, each = UNKNOWN_NS;
	int fd;

	a.inherit = 0;
	a.inherit_thread = 0;
	without = loop_ns();
	fd = event_open(&a, 0, -1);
	if (fd < 0)
		return UNKNOWN_NS;
	if (!ring_map(&ring, fd, RING_PAGES)) {
		with = loop_ns();
		if (with > without && without >= PERIOD_NS)
			each = (with - without) * PERIOD_NS / without;
		ring_unmap(&ring);
	}
	close(fd);
	return each < LEAST_NS ? LEAST_NS : each > MOST_NS ? MOST_NS : each;
}
