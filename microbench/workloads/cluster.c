/* SPDX-License-Identifier: MIT */
/*
 * cluster - streaming clustering: would a new centre pay? Very many barriers
 *
 * Points are 0 to n - 1 on a line. Opening a centre costs the same each time;
 * the cost at the end must be that of the centres that were opened.
 */
#include "work.h"

enum {
	POINTS = 2048,
	PRICE = POINTS * 8,
};

static pthread_barrier_t barrier;
static int64_t gain[WORK_THREADS_MAX][8]; /* a cache line each */
static int32_t cost[POINTS];
static bool open_centre[POINTS];
static long candidates;
static int64_t total;

static void prepare(void)
{
	candidates = size * 1000000 / (POINTS * 17);
	for (int i = 0; i < POINTS; i++) {
		cost[i] = i; /* from centre 0 */
		total += i;
	}
	open_centre[0] = true;
	pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
}

static int32_t between(long a, long b)
{
	return (int32_t)(a < b ? b - a : a - b);
}

static bool pays(long candidate, long from, long to, int id)
{
	int64_t all = -PRICE;

	gain[id][0] = 0;
	for (long i = from; i < to; i++)
		if (between(i, candidate) < cost[i])
			gain[id][0] += cost[i] - between(i, candidate);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < threads; i++)
		all += gain[i][0];
	pthread_barrier_wait(&barrier);
	return all > 0;
}

static void work(int id)
{
	long from = work_part(POINTS, id), to = work_part(POINTS, id + 1);

	for (long k = 0; k < candidates; k++) {
		long c = (long)(work_hash((uint64_t)k) % POINTS);

		if (!pays(c, from, to, id))
			continue;
		for (long i = from; i < to; i++)
			if (between(i, c) < cost[i])
				cost[i] = between(i, c);
		if (!id)
			open_centre[c] = true;
		pthread_barrier_wait(&barrier);
	}
}

/* The distance to the nearest centre from @i on, going by @step. */
static int32_t nearest(long i, long step)
{
	for (long c = i; c >= 0 && c < POINTS; c += step)
		if (open_centre[c])
			return between(i, c);
	return POINTS;
}

static bool check(void)
{
	int64_t sum = 0;

	for (long i = 0; i < POINTS; i++) {
		int32_t before = nearest(i, -1), after = nearest(i, 1);

		if (cost[i] != (before < after ? before : after))
			return false;
		sum += cost[i];
	}
	return sum < total;
}
