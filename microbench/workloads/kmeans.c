/* SPDX-License-Identifier: MIT */
/*
 * kmeans - points to the nearest of some centres, centres to their means;
 * OpenMP with a critical section for each thread and round
 *
 * The points lie around known centres, which must be found.
 */
#define WORK_OPENMP
#include <math.h>

#include "work.h"

enum {
	CENTRES = 8,
	ROUNDS = 6,
	AXES = 4,
};

static float (*point)[AXES];
static double centre[CENTRES][AXES];
static long points;

static double true_centre(int c, int axis)
{
	return 100.0 * (c >> axis % 3 & 1) + axis;
}

static void prepare(void)
{
	points = size * 1000000 / (ROUNDS * CENTRES * AXES * 12);
	points -= points % (2 * CENTRES);
	point = work_alloc((size_t)points, sizeof(*point));
	for (long i = 0; i < points; i++)
		for (int k = 0; k < AXES; k++) {
			double off =
				(double)(work_hash((uint64_t)(i / 16)) % 10);

			/* in pairs around the centre */
			point[i][k] =
				(float)(true_centre((int)(i % CENTRES), k) +
					(i / CENTRES % 2 ? off : -off));
		}
	for (int c = 0; c < CENTRES; c++)
		for (int k = 0; k < AXES; k++)
			centre[c][k] = true_centre(c, k) + 10 * (c % 3) - 10;
}

static int nearest(const float *p)
{
	double least = INFINITY;
	int best = 0;

	for (int c = 0; c < CENTRES; c++) {
		double sum = 0;

		for (int k = 0; k < AXES; k++)
			sum += (p[k] - centre[c][k]) * (p[k] - centre[c][k]);
		if (sum < least) {
			least = sum;
			best = c;
		}
	}
	return best;
}

static void work(int id)
{
	for (int round = 0; round < ROUNDS; round++) {
		double sum[CENTRES][AXES] = { { 0 } };
		long count[CENTRES] = { 0 };

#pragma omp parallel num_threads(threads)
		{
			double own[CENTRES][AXES] = { { 0 } };
			long n[CENTRES] = { 0 };

#pragma omp for schedule(static) nowait
			for (long i = 0; i < points; i++) {
				int c = nearest(point[i]);

				n[c]++;
				for (int k = 0; k < AXES; k++)
					own[c][k] += point[i][k];
			}
#pragma omp critical
			for (int c = 0; c < CENTRES; c++) {
				count[c] += n[c];
				for (int k = 0; k < AXES; k++)
					sum[c][k] += own[c][k];
			}
		}
		for (int c = 0; c < CENTRES; c++)
			for (int k = 0; count[c] && k < AXES; k++)
				centre[c][k] = sum[c][k] / (double)count[c];
	}
}

static bool check(void)
{
	for (int c = 0; c < CENTRES; c++)
		for (int k = 0; k < AXES; k++)
			if (!(fabs(centre[c][k] - true_centre(c, k)) < 1e-3))
				return false;
	return true;
}
