/* SPDX-License-Identifier: MIT */
/*
 * counters - threads count in neighbouring words of one cache line: false
 * sharing
 */
#include "work.h"

static volatile uint64_t counter[WORK_THREADS_MAX];
static long turns;

static void prepare(void)
{
	turns = size * 1000000 / (threads * 6);
}

static void work(int id)
{
	for (long i = 0; i < turns; i++)
		counter[id]++;
}

static bool check(void)
{
	for (int id = 0; id < threads; id++)
		if (counter[id] != (uint64_t)turns)
			return false;
	return true;
}
