/* SPDX-License-Identifier: MIT */
/*
 * test_shadow - heap blocks by any address in them, against malloc itself
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>

#include "preload/heap/shadow.h"
#include "src/base/rng.h"
#include "tests/preload/heap/four_threads.h"
#include "tests/run_suite.h"

enum {
	BLOCKS = 20000,
	CALLERS = 500,
};

static struct {
	char *at;
	size_t bytes;
	uint64_t caller;
} block[BLOCKS];

static struct rng rng;

/* Most are small, some larger than 64 KiB, a few are mapped. */
static size_t some_size(void)
{
	switch (rng_below(&rng, 200)) {
	case 0:
		return 1 + rng_below(&rng, 400000);
	case 1:
	case 2:
		return 1 + rng_below(&rng, 70000);
	default:
		return 1 + rng_below(&rng, 4000);
	}
}

static void make(int i)
{
	block[i].bytes = some_size();
	block[i].at = malloc(block[i].bytes);
	ck_assert_ptr_nonnull(block[i].at);
	block[i].caller = 0x400000 + 16 * rng_below(&rng, CALLERS);
	shadow_add((uintptr_t)block[i].at, block[i].bytes, block[i].caller);
}

static uint64_t inside(int i)
{
	return (uintptr_t)block[i].at + rng_below(&rng, block[i].bytes);
}

static void check_live(int i)
{
	struct heap_block found;

	ck_assert(shadow_find(inside(i), &found));
	ck_assert_uint_eq(found.start, (uintptr_t)block[i].at);
	ck_assert(!found.freed);
	ck_assert_uint_eq(found.caller, block[i].caller);
	ck_assert_uint_ge(found.bytes, block[i].bytes);
	ck_assert_uint_le(found.bytes,
			  block[i].bytes + block[i].bytes / 4 + 16);
}

static void begin(void)
{
	rng_seed(&rng, 7, 1);
	for (int i = 0; i < BLOCKS; i++)
		make(i);
}

static void end(void)
{
	for (int i = 0; i < BLOCKS; i++)
		free(block[i].at);
}

START_TEST(every_address_in_a_live_block_finds_it)
{
	begin();
	for (int i = 0; i < BLOCKS; i++)
		check_live(i);
	end();
}
END_TEST

START_TEST(freed_blocks_are_still_named_and_said_to_be_freed)
{
	struct heap_block found;
	int named = 0;

	begin();
	for (int i = 0; i < BLOCKS; i += 2)
		shadow_free((uintptr_t)block[i].at, true);
	for (int i = 0; i < BLOCKS; i++) {
		if (i % 2) {
			check_live(i);
			continue;
		}
		ck_assert(shadow_find(inside(i), &found));
		named += found.freed && found.start == (uintptr_t)block[i].at;
	}
	ck_assert_int_ge(named, BLOCKS / 2 / 10 * 9);
	end();
}
END_TEST

/* Blocks come and go, and take the places of others of another size. */
START_TEST(places_that_are_used_again_have_their_new_block)
{
	begin();
	for (int round = 0; round < 20 * BLOCKS; round++) {
		int i = (int)rng_below(&rng, BLOCKS);

		shadow_free((uintptr_t)block[i].at, true);
		free(block[i].at);
		make(i);
	}
	for (int i = 0; i < BLOCKS; i++)
		check_live(i);
	end();
}
END_TEST

START_TEST(a_failed_realloc_leaves_its_block_alive)
{
	begin();
	shadow_free((uintptr_t)block[5].at, true);
	shadow_free((uintptr_t)block[5].at, false);
	check_live(5);
	end();
}
END_TEST

START_TEST(what_no_block_contains_is_not_found)
{
	struct heap_block found;
	uint64_t base = UINT64_C(0x7e0000000000);

	ck_assert(!shadow_find(base, &found));
	shadow_add(base + 4096, 100, 1);
	ck_assert(!shadow_find(base + 4095, &found));
	ck_assert(shadow_find(base + 4096 + 99, &found));
	ck_assert(!shadow_find(base + 4096 + 200, &found));
	/* Between two live ones. */
	shadow_add(base + 8192, 100, 1);
	ck_assert(!shadow_find(base + 8000, &found));
	/* No addresses of user space: neither found nor written. */
	ck_assert(!shadow_find(UINT64_C(1) << 47, &found));
	ck_assert(!shadow_find(UINT64_MAX, &found));
	shadow_add(UINT64_MAX - 100, 50, 1);
	shadow_free(UINT64_MAX - 100, true);
	ck_assert(!shadow_find(5, &found));
}
END_TEST

START_TEST(a_huge_block_is_found_across_regions)
{
	uint64_t base = UINT64_C(0x7d0000000000), bytes = UINT64_C(3) << 30;
	struct heap_block found;

	shadow_add(base, bytes, 77);
	for (uint64_t at = 0; at < bytes; at += (1 << 20) + 4097) {
		ck_assert(shadow_find(base + at, &found));
		ck_assert_uint_eq(found.start, base);
		ck_assert_uint_eq(found.caller, 77);
	}
	shadow_free(base, true);
	ck_assert(shadow_find(base + bytes - 1, &found));
	ck_assert(found.freed);
}
END_TEST

START_TEST(sizes_are_exact_to_16_bytes_up_to_16_kib)
{
	uint64_t base = UINT64_C(0x7c0000000000);
	struct heap_block found;

	for (uint64_t bytes = 0; bytes <= 17 << 10; bytes++) {
		uint64_t rounded = bytes ? (bytes + 15) / 16 * 16 : 16;

		shadow_add(base, bytes, 5);
		ck_assert(shadow_find(base + rounded - 1, &found));
		if (bytes <= 16 << 10)
			ck_assert_uint_eq(found.bytes, rounded);
		else
			ck_assert(found.bytes >= rounded &&
				  found.bytes <= rounded + 32);
		ck_assert(!shadow_find(base + found.bytes, &found));
	}
}
END_TEST

START_TEST(what_was_not_noted_cannot_be_freed)
{
	uint64_t base = UINT64_C(0x7b0000000000);

	ck_assert(!shadow_free(base, true));
	shadow_add(base, 100, 1);
	ck_assert(shadow_free(base, true));
	ck_assert(!shadow_free(base + 16, true));
	ck_assert(!shadow_free(0, true));
	ck_assert(!shadow_free(UINT64_MAX, true));
}
END_TEST

static void *churn(void *seed)
{
	struct rng mine;

	rng_seed(&mine, (uintptr_t)seed, 2);
	for (int i = 0; i < 100000; i++) {
		size_t bytes = 1 + rng_below(&mine, 300);
		char *p = malloc(bytes);
		struct heap_block found;

		shadow_add((uintptr_t)p, bytes, (uintptr_t)seed);
		ck_assert(shadow_find((uintptr_t)p + bytes - 1, &found));
		ck_assert_uint_eq(found.start, (uintptr_t)p);
		ck_assert_uint_eq(found.caller, (uintptr_t)seed);
		shadow_free((uintptr_t)p, true);
		free(p);
	}
	return NULL;
}

START_TEST(threads_find_their_own_blocks)
{
	in_four_threads(churn);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shadow");
	TCase *t = tcase_create("shadow");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, every_address_in_a_live_block_finds_it);
	tcase_add_test(t, freed_blocks_are_still_named_and_said_to_be_freed);
	tcase_add_test(t, places_that_are_used_again_have_their_new_block);
	tcase_add_test(t, a_failed_realloc_leaves_its_block_alive);
	tcase_add_test(t, what_no_block_contains_is_not_found);
	tcase_add_test(t, a_huge_block_is_found_across_regions);
	tcase_add_test(t, sizes_are_exact_to_16_bytes_up_to_16_kib);
	tcase_add_test(t, what_was_not_noted_cannot_be_freed);
	tcase_add_test(t, threads_find_their_own_blocks);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
