/* SPDX-License-Identifier: MIT */
/*
 * test_ranges - overlapping ranges against a loop over all of them
 */
#include <check.h>

#include "analysis/symbols/ranges.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	RANGES = 300,
	SPACE = 1000
};

static struct range given[RANGES];

static const struct range *slow_find(uint64_t addr)
{
	const struct range *best = NULL;

	for (int i = 0; i < RANGES; i++) {
		const struct range *r = &given[i];

		if (addr >= r->start && addr < r->end &&
		    (!best || r->rank >= best->rank))
			best = r;
	}
	return best;
}

START_TEST(of_overlapping_ranges_the_highest_rank_counts)
{
	struct ranges r = { NULL };
	struct rng rng;
	int found = 0;

	rng_seed(&rng, 11, _i);
	for (int i = 0; i < RANGES; i++) {
		uint64_t start = rng_below(&rng, SPACE);

		given[i] = (struct range){ start, start + rng_below(&rng, 40),
					   rng_below(&rng, 1 + _i), i };
		ranges_add(&r, given[i].start, given[i].end, given[i].rank, i);
	}
	ranges_flatten(&r);
	for (size_t i = 1; i < r.n; i++)
		ck_assert_uint_le(r.range[i - 1].end, r.range[i].start);
	for (uint64_t addr = 0; addr < SPACE + 50; addr++) {
		const struct range *slow = slow_find(addr);
		const struct range *quick = ranges_find(&r, addr);

		ck_assert_int_eq(!slow, !quick);
		if (quick)
			ck_assert_uint_eq(quick->value, slow->value);
		found += quick != NULL;
	}
	ck_assert_int_gt(found, SPACE / 2);
	ranges_release(&r);
}
END_TEST

START_TEST(the_ends_of_the_address_space_are_addresses_too)
{
	struct ranges r = { NULL };

	ranges_add(&r, 0, 1, 0, 7);
	ranges_add(&r, 5, 5, 9, 8);
	ranges_add(&r, UINT64_MAX - 1, UINT64_MAX, 0, 9);
	ranges_flatten(&r);
	ck_assert_uint_eq(ranges_find(&r, 0)->value, 7);
	ck_assert_ptr_null(ranges_find(&r, 1));
	ck_assert_ptr_null(ranges_find(&r, 5));
	ck_assert_uint_eq(ranges_find(&r, UINT64_MAX - 1)->value, 9);
	ck_assert_ptr_null(ranges_find(&r, UINT64_MAX));
	ranges_release(&r);
}
END_TEST

START_TEST(without_ranges_nothing_is_found)
{
	struct ranges r = { NULL };

	ranges_flatten(&r);
	ck_assert_ptr_null(ranges_find(&r, 0));
	ranges_release(&r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ranges");
	TCase *t = tcase_create("ranges");

	tcase_add_loop_test(t, of_overlapping_ranges_the_highest_rank_counts, 0,
			    6);
	tcase_add_test(t, the_ends_of_the_address_space_are_addresses_too);
	tcase_add_test(t, without_ranges_nothing_is_found);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
