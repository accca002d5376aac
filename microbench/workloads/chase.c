/* SPDX-License-Identifier: MIT */
/*
 * chase - each thread follows a chain of addresses through memory of its own
 */
#include "work.h"

enum {
	LINES = 1 << 15, /* of 64 bytes: 2 MiB for each thread */
	WORDS = 8,
	FACTOR = 4 * 1103 + 1, /* with an odd step: visits every line */
	STEP = 12345,
};

static uint64_t *ring[WORK_THREADS_MAX];
static uint64_t end[WORK_THREADS_MAX];
static long turns;

static uint64_t after(uint64_t line)
{
	return (line * FACTOR + STEP) % LINES;
}

static void prepare(void)
{
	turns = size * 1000000 / (threads * 4);
	for (int id = 0; id < threads; id++) {
		ring[id] = work_alloc(LINES, WORDS * sizeof(uint64_t));
		for (uint64_t i = 0; i < LINES; i++)
			ring[id][i * WORDS] = after(i) * WORDS;
	}
}

static void work(int id)
{
	const uint64_t *at = ring[id];
	uint64_t place = 0;

	for (long i = 0; i < turns; i++)
		place = at[place];
	end[id] = place;
}

static bool check(void)
{
	uint64_t line = 0;

	for (long i = turns % LINES; i > 0; i--)
		line = after(line);
	for (int id = 0; id < threads; id++)
		if (end[id] != line * WORDS)
			return false;
	return true;
}
