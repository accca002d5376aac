/* SPDX-License-Identifier: MIT */
/*
 * guest_walks - programs whose lines fall into few sets of a cache, or do not
 *
 *	guest_walks naive|blocks SIDE ROW
 *	guest_walks halves KEYS SEARCHES
 *
 * The first two multiply matrices of SIDE by SIDE doubles in rows of ROW
 * doubles, row by column or in blocks of 32. If a row is a power of two of
 * bytes long, each column falls into few sets. The third does binary searches
 * for keys of a Zipf distribution; the places it looks at first are a power of
 * two apart.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK = 32,
	MATRICES = 3
};

static double *matrix(long side, long row, int number)
{
	double *m = aligned_alloc(4096, (size_t)(side * row) * sizeof(*m));

	if (!m)
		abort();
	for (long i = 0; i < side * row; i++)
		m[i] = (double)(i % 7 + number);
	return m;
}

static double naive(double *const m[MATRICES], long side, long row)
{
	for (long i = 0; i < side; i++)
		for (long j = 0; j < side; j++) {
			double sum = 0;

			for (long k = 0; k < side; k++)
				sum += m[0][i * row + k] * m[1][k * row + j];
			m[2][i * row + j] = sum;
		}
	return m[2][side];
}

static void block(double *const m[MATRICES], long row, long i0, long j0,
		  long k0)
{
	for (long i = i0; i < i0 + BLOCK; i++)
		for (long j = j0; j < j0 + BLOCK; j++) {
			double sum = m[2][i * row + j];

			for (long k = k0; k < k0 + BLOCK; k++)
				sum += m[0][i * row + k] * m[1][k * row + j];
			m[2][i * row + j] = sum;
		}
}

static double blocks(double *const m[MATRICES], long side, long row)
{
	for (long i = 0; i < side; i += BLOCK)
		for (long j = 0; j < side; j += BLOCK)
			for (long k = 0; k < side; k += BLOCK)
				block(m, row, i, j, k);
	return m[2][side];
}

/* Key @i has the weight 1 / (i + 1). Search by cumulated weight. */
static double halves(long keys, long searches)
{
	double *upto = matrix(keys, 1, 0), sum = 0, found = 0;
	uint64_t x = 88172645463325252ull;

	for (long i = 0; i < keys; i++) {
		sum += 1. / (double)(i + 1);
		upto[i] = sum;
	}
	while (searches-- > 0) {
		long low = 0;
		double want;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		want = (double)(x >> 11) / 9007199254740992. * sum;
		for (long n = keys; n > 1; n -= n / 2)
			if (upto[low + n / 2 - 1] < want)
				low += n / 2;
		found += (double)low;
	}
	return found;
}

int main(int argc, char **argv)
{
	long a = argc == 4 ? atol(argv[2]) : 0, b = a ? atol(argv[3]) : 0;
	double *m[MATRICES], result;

	if (a <= 0 || b <= 0)
		return 2;
	if (!strcmp(argv[1], "halves")) {
		result = halves(a, b);
	} else {
		for (int i = 0; i < MATRICES; i++)
			m[i] = matrix(a, b, i);
		result = strcmp(argv[1], "blocks") ? naive(m, a, b)
						   : blocks(m, a, b);
	}
	printf("%.17g\n", result);
	return 0;
}
