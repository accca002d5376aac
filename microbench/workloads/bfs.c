/* SPDX-License-Identifier: MIT */
/*
 * bfs - breadth-first search, level after level; OpenMP, dynamic chunks
 *
 * The graph is a square grid closed to a torus, so distances are known.
 */
#define WORK_OPENMP
#include "work.h"

enum {
	NEIGHBOURS = 4,
	FAR = 1 << 30,
};

static long side;
static int *distance;
static long *frontier[2], found[2];

static void prepare(void)
{
	long n;

	for (side = 16; (side + 1) * (side + 1) * 147 < size * 1000000; side++)
		;
	n = side * side;
	distance = work_alloc((size_t)n, sizeof(int));
	frontier[0] = work_alloc((size_t)n, sizeof(long));
	frontier[1] = work_alloc((size_t)n, sizeof(long));
	for (long i = 1; i < n; i++)
		distance[i] = FAR;
	found[0] = 1;
}

static long neighbour(long point, int which)
{
	static const int dx[] = { 1, -1, 0, 0 }, dy[] = { 0, 0, 1, -1 };
	long x = point % side + dx[which], y = point / side + dy[which];

	x = x < 0 ? side - 1 : x == side ? 0 : x;
	y = y < 0 ? side - 1 : y == side ? 0 : y;
	return y * side + x;
}

static void visit(long point, int level, long *next, long *n)
{
	int far = FAR;

	for (int k = 0; k < NEIGHBOURS; k++, far = FAR) {
		long other = neighbour(point, k);

		if (__atomic_load_n(&distance[other], __ATOMIC_RELAXED) ==
			    FAR &&
		    __atomic_compare_exchange_n(
			    &distance[other], &far, level + 1, false,
			    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			next[__atomic_fetch_add(n, 1, __ATOMIC_RELAXED)] =
				other;
	}
}

static void work(int id)
{
	for (int level = 0; found[level % 2]; level++) {
		int now = level % 2;
		long n = found[now];

		found[!now] = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
		for (long i = 0; i < n; i++)
			visit(frontier[now][i], level, frontier[!now],
			      &found[!now]);
	}
}

static long around(long x)
{
	return x < side - x ? x : side - x;
}

static bool check(void)
{
	for (long i = 0; i < side * side; i++)
		if (distance[i] != around(i % side) + around(i / side))
			return false;
	return true;
}
