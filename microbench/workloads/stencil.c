/* SPDX-License-Identifier: MIT */
/*
 * stencil - a grid in which each point depends on its neighbours; barriers
 *
 * Each step makes a point the exclusive or of its two neighbours. After 2^k
 * steps it is that of the two points 2^k away, which is the check.
 */
#include "work.h"

enum {
	STEPS = 64, /* 2^k */
};

static pthread_barrier_t barrier;
static uint64_t *grid[2];
static long points;

static void prepare(void)
{
	points = size * 1000000 / (STEPS * 14);
	grid[0] = work_alloc((size_t)points, sizeof(uint64_t));
	grid[1] = work_alloc((size_t)points, sizeof(uint64_t));
	for (long i = 0; i < points; i++)
		grid[0][i] = (uint64_t)i * i;
	pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
}

static void work(int id)
{
	long from = work_part(points, id), to = work_part(points, id + 1);

	for (int step = 0; step < STEPS; step++) {
		const uint64_t *old = grid[step % 2];
		uint64_t *new = grid[!(step % 2)];

		for (long i = from; i < to; i++) {
			long before = i ? i - 1 : points - 1;
			long after = i + 1 < points ? i + 1 : 0;

			new[i] = old[before] ^ old[after];
		}
		pthread_barrier_wait(&barrier);
	}
}

static bool check(void)
{
	for (long i = 0; i < points; i++) {
		uint64_t a = (uint64_t)((i + points - STEPS) % points);
		uint64_t b = (uint64_t)((i + STEPS) % points);

		if (grid[0][i] != (a * a ^ b * b))
			return false;
	}
	return true;
}
