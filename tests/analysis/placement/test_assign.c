/* SPDX-License-Identifier: MIT */
/*
 * test_assign - threads that share lines come to lie near each other
 *
 * The oracle for small cases tries all placements.
 */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/placement/assign.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	MAX = 64
};

static double shared[MAX * MAX];
static uint32_t distance[MAX * MAX];
static uint32_t place[MAX];
static struct assignment a = { .shared = shared, .distance = distance };

/* Sockets of caches of cores: distance 1 in a cache, 2 in a socket, else 3. */
static void machine(size_t places, size_t in_cache, size_t in_socket)
{
	a.places = places;
	for (size_t x = 0; x < places; x++)
		for (size_t y = 0; y < places; y++)
			distance[x * places + y] =
				x == y                           ? 0
				: x / in_cache == y / in_cache   ? 1
				: x / in_socket == y / in_socket ? 2
								 : 3;
}

static void share(size_t x, size_t y, double n)
{
	shared[x * a.threads + y] = shared[y * a.threads + x] = n;
}

static void threads(size_t n)
{
	a.threads = n;
	memset(shared, 0, sizeof(shared));
}

/* The cost of the best placement of threads @k and later. */
static double best(uint32_t *at, size_t k, uint64_t taken)
{
	double least = -1;

	if (k == a.threads)
		return assign_cost(&a, at);
	for (uint32_t i = 0; i < a.places; i++) {
		double cost;

		if (taken >> i & 1)
			continue;
		at[k] = i;
		cost = best(at, k + 1, taken | UINT64_C(1) << i);
		if (least < 0 || cost < least)
			least = cost;
	}
	return least;
}

START_TEST(small_cases_find_the_optimum)
{
	uint32_t at[MAX];
	struct rng rng;

	rng_seed(&rng, 7, (uint64_t)_i);
	machine(8, 2, 4);
	threads(4 + (size_t)_i % 4);
	for (size_t x = 0; x < a.threads; x++)
		for (size_t y = 0; y < x; y++)
			share(x, y,
			      rng_below(&rng, 3) ? 0 : rng_below(&rng, 100));
	assign_places(&a, place);
	ck_assert_double_eq_tol(assign_cost(&a, place), best(at, 0, 0), 1e-6);
}
END_TEST

/* 32 pairs whose threads are far apart in number. */
START_TEST(pairs_share_a_cache)
{
	machine(64, 2, 32);
	threads(64);
	for (size_t i = 0; i < 32; i++)
		share(i, 63 - i, 10);
	assign_places(&a, place);
	for (size_t i = 0; i < 32; i++)
		ck_assert_uint_eq(place[i] / 2, place[63 - i] / 2);
}
END_TEST

/* The heavier pairs of a ring are near, and each place has one thread. */
START_TEST(each_thread_has_a_place_of_its_own_while_there_are_enough)
{
	bool taken[MAX] = { false };

	machine(16, 4, 8);
	threads(11);
	for (size_t i = 0; i < 11; i++)
		share(i, (i + 1) % 11, 1 + (double)i);
	assign_places(&a, place);
	for (size_t i = 0; i < 11; i++) {
		ck_assert_uint_lt(place[i], 16);
		ck_assert(!taken[place[i]]);
		taken[place[i]] = true;
	}
}
END_TEST

START_TEST(more_threads_than_places_are_spread_evenly)
{
	size_t count[MAX] = { 0 };

	machine(4, 2, 4);
	threads(10);
	for (size_t i = 0; i < 10; i++)
		share(i, (i + 5) % 10, 3);
	assign_places(&a, place);
	for (size_t i = 0; i < 10; i++)
		count[place[i]]++;
	for (size_t i = 0; i < 4; i++)
		ck_assert(count[i] == 2 || count[i] == 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("assign");
	TCase *t = tcase_create("assign");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, small_cases_find_the_optimum, 0, 40);
	tcase_add_test(t, pairs_share_a_cache);
	tcase_add_test(
		t, each_thread_has_a_place_of_its_own_while_there_are_enough);
	tcase_add_test(t, more_threads_than_places_are_spread_evenly);
	suite_add_tcase(s, t);
	return run_suite(s);
}
