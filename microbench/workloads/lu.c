/* SPDX-License-Identifier: MIT */
/*
 * lu - a matrix into a lower and an upper triangle; a barrier for each column
 *
 * The matrix is the product of two triangles of small whole numbers, which must
 * come out again exactly.
 */
#include "work.h"

static pthread_barrier_t barrier;
static double *a;
static long n;

static double lower(long i, long j)
{
	return i == j ? 1 : (double)(work_hash((uint64_t)(i * n + j)) % 3) - 1;
}

static double upper(long i, long j)
{
	return i == j ? 1 : (double)(work_hash((uint64_t)(j * n + i)) % 3) - 1;
}

static void prepare(void)
{
	for (n = 32; (n + 1) * (n + 1) * (n + 1) * 10 < size * 1000000; n++)
		;
	a = work_alloc((size_t)(n * n), sizeof(double));
	for (long k = 0; k < n; k++)
		for (long i = k; i < n; i++) {
			double l = lower(i, k);

			for (long j = k; l != 0 && j < n; j++)
				a[i * n + j] += l * upper(k, j);
		}
	pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
}

static void work(int id)
{
	for (long k = 0; k < n; k++) {
		for (long i = k + 1; i < n; i++) {
			double factor;

			if (i % threads != id)
				continue;
			factor = a[i * n + k] /= a[k * n + k];
			for (long j = k + 1; j < n; j++)
				a[i * n + j] -= factor * a[k * n + j];
		}
		pthread_barrier_wait(&barrier);
	}
}

static bool check(void)
{
	for (long i = 0; i < n; i++)
		for (long j = 0; j < n; j++)
			if (a[i * n + j] != (i > j ? lower(i, j) : upper(i, j)))
				return false;
	return true;
}
