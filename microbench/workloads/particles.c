/* SPDX-License-Identifier: MIT */
/*
 * particles - a particle filter: move, weigh, sum, choose anew; OpenMP with
 * reductions and a serial part
 *
 * The filter follows a point whose way is known.
 */
#define WORK_OPENMP
#include <math.h>

#include "work.h"

enum {
	STEPS = 16,
};

static double *place, *weight, *chosen, estimate;
static long particles;

static double noise(long i, int step)
{
	return (double)(work_hash((uint64_t)(i * STEPS + step)) >> 11) /
		       (double)(UINT64_C(1) << 53) -
	       0.5;
}

static double truth(int step)
{
	return 3.0 * step;
}

static void prepare(void)
{
	particles = size * 1000000 / (STEPS * 108);
	place = work_alloc((size_t)particles, sizeof(double));
	weight = work_alloc((size_t)particles, sizeof(double));
	chosen = work_alloc((size_t)particles, sizeof(double));
}

static void choose(double all)
{
	double at = all / (2 * (double)particles), sum = weight[0];

	for (long i = 0, from = 0; i < particles; i++) {
		while (sum < at && from + 1 < particles)
			sum += weight[++from];
		chosen[i] = place[from];
		at += all / (double)particles;
	}
}

static void work(int id)
{
	for (int step = 0; step < STEPS; step++) {
		double all = 0, mean = 0;

#pragma omp parallel for num_threads(threads) reduction(+ : all, mean)
		for (long i = 0; i < particles; i++) {
			double off;

			place[i] =
				chosen[i] + 3.0 * (step > 0) + noise(i, step);
			off = place[i] - truth(step);
			weight[i] = exp(-off * off);
			all += weight[i];
			mean += weight[i] * place[i];
		}
		estimate = mean / all;
		choose(all);
	}
}

static bool check(void)
{
	return fabs(estimate - truth(STEPS - 1)) < 0.1;
}
