/* SPDX-License-Identifier: MIT */
/*
 * test_sites - callers and paths have numbers, and are told by them
 *
 * Each test runs in a process of its own, so with empty tables.
 */
#include <stdatomic.h>
#include <stdint.h>

#include "preload/heap/sites.h"
#include "src/base/rng.h"
#include "tests/preload/heap/four_threads.h"
#include "tests/run_suite.h"

enum {
	PATHS = 20000,
	ROUNDS = 50000,
};

/* Path @i of as many as one likes; many have the same calls at first. */
static unsigned make(uint64_t *path, uint32_t i)
{
	unsigned calls = 1 + i % HEAP_PATH_MAX;

	for (unsigned k = 0; k < calls; k++)
		path[k] = 0x1000 + k;
	path[calls - 1] += (uint64_t)(i / HEAP_PATH_MAX) << 12;
	return calls;
}

static uint32_t number_of(uint32_t i)
{
	uint64_t path[HEAP_PATH_MAX];
	unsigned calls = make(path, i);

	return sites_path(path, calls);
}

static void check_path(uint32_t number, uint32_t i)
{
	struct heap_block block = { .site = number };
	uint64_t path[HEAP_PATH_MAX];
	unsigned calls = make(path, i);

	sites_describe(&block);
	ck_assert_uint_eq(block.calls, calls);
	ck_assert_uint_eq(block.caller, path[0]);
	ck_assert_mem_eq(block.path, path, calls * sizeof(path[0]));
}

START_TEST(each_path_has_a_number_and_few_have_low_ones)
{
	static uint32_t number[PATHS];

	for (uint32_t i = 0; i < PATHS; i++) {
		number[i] = number_of(i);
		ck_assert_uint_eq(number[i], i + 1);
	}
	for (uint32_t i = 0; i < PATHS; i++) {
		ck_assert_uint_eq(number_of(i), number[i]);
		check_path(number[i], i);
	}
}
END_TEST

START_TEST(a_part_of_a_path_and_a_call_of_itself_are_other_paths)
{
	const uint64_t path[HEAP_PATH_MAX] = { 5, 5, 5, 5, 5, 5, 5, 5 };

	for (unsigned calls = 1; calls <= HEAP_PATH_MAX; calls++)
		ck_assert_uint_eq(sites_path(path, calls), calls);
}
END_TEST

START_TEST(without_room_known_paths_keep_their_numbers)
{
	for (uint32_t i = 0; i < SITES - 1; i++)
		ck_assert_uint_eq(number_of(i), i + 1);
	for (uint32_t i = SITES; i < 2 * SITES; i++)
		ck_assert_uint_eq(number_of(i), 0);
	for (uint32_t i = 0; i < SITES - 1; i++)
		ck_assert_uint_eq(number_of(i), i + 1);
	check_path(SITES - 1, SITES - 2);
}
END_TEST

START_TEST(callers_from_before_are_not_taken_for_paths)
{
	static uint32_t number[PATHS];
	static bool taken[SITES];

	for (uint32_t i = 0; i < PATHS; i++) {
		number[i] = sites_caller(0x400000 + i);
		ck_assert_uint_eq(sites_caller(0x400000 + i), number[i]);
		taken[number[i]] = true;
	}
	for (uint32_t i = 0; i < PATHS; i++) {
		uint32_t path = number_of(i);

		ck_assert(path && !taken[path]);
		taken[path] = true;
		check_path(path, i);
	}
	for (uint32_t i = 0; i < PATHS; i++) {
		struct heap_block block = { .site = number[i] };

		sites_describe(&block);
		ck_assert_uint_eq(block.calls, 0);
		ck_assert(!number[i] || block.caller == 0x400000 + i);
	}
}
END_TEST

START_TEST(what_has_no_number_has_no_path)
{
	struct heap_block block = { .site = 0 };

	number_of(0);
	sites_describe(&block);
	ck_assert_uint_eq(block.calls, 0);
	ck_assert_uint_eq(block.caller, 0);
}
END_TEST

static _Atomic uint32_t seen[PATHS];

static void *ask(void *seed)
{
	struct rng rng;

	rng_seed(&rng, (uintptr_t)seed, 4);
	for (int n = 0; n < ROUNDS; n++) {
		uint32_t i = (uint32_t)rng_below(&rng, PATHS), was = 0;
		uint32_t number = number_of(i);

		check_path(number, i);
		ck_assert(atomic_compare_exchange_strong(&seen[i], &was,
							 number) ||
			  was == number);
	}
	return NULL;
}

START_TEST(threads_get_one_number_for_one_path)
{
	in_four_threads(ask);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sites");
	TCase *t = tcase_create("sites");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, each_path_has_a_number_and_few_have_low_ones);
	tcase_add_test(t,
		       a_part_of_a_path_and_a_call_of_itself_are_other_paths);
	tcase_add_test(t, without_room_known_paths_keep_their_numbers);
	tcase_add_test(t, callers_from_before_are_not_taken_for_paths);
	tcase_add_test(t, what_has_no_number_has_no_path);
	tcase_add_test(t, threads_get_one_number_for_one_path);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
