/* SPDX-License-Identifier: MIT */
/*
 * dynamic - dynamic programming: a row follows from the row above; OpenMP, one
 * team for all rows
 *
 * The rows are those of Pascal's triangle modulo a prime, so row n adds up to
 * 2^n modulo it.
 */
#define WORK_OPENMP
#include "work.h"

#define PRIME UINT32_C(2147483647)

enum {
	COLUMNS = 4096,
};

static uint32_t row[2][COLUMNS + 1];
static long rows;

static void prepare(void)
{
	rows = size * 1000000 / (COLUMNS * 9);
	if (rows > COLUMNS - 1)
		rows = COLUMNS - 1;
	row[0][1] = 1;
}

static void fill(const uint32_t *above, uint32_t *to)
{
#pragma omp for schedule(static)
	for (int j = 1; j <= COLUMNS; j++) {
		uint32_t sum = above[j] + above[j - 1];

		to[j] = sum >= PRIME ? sum - PRIME : sum;
	}
}

static long repeats(void)
{
	long n = size * 1000000 / (rows * COLUMNS * 9);

	return n ? n : 1;
}

static void work(int id)
{
	for (long k = repeats(); k; k--) {
		memset(row[0], 0, sizeof(row[0]));
		row[0][1] = 1;
#pragma omp parallel num_threads(threads)
		for (long i = 0; i < rows; i++)
			fill(row[i % 2], row[(i + 1) % 2]);
	}
}

static bool check(void)
{
	uint64_t sum = 0, power = 1;

	for (int j = 0; j <= COLUMNS; j++)
		sum = (sum + row[rows % 2][j]) % PRIME;
	for (long i = 0; i < rows; i++)
		power = power * 2 % PRIME;
	return sum == power;
}
