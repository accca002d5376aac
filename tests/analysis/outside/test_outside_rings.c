/* SPDX-License-Identifier: MIT */
/*
 * test_outside_rings - several rings are one stream in order of time
 */
#include <check.h>

#include "perf_words.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	RINGS = 5
};

static struct rings rings;
static struct outside_ring ring[RINGS];

static void setup(void)
{
	memset(&rings, 0, sizeof(rings));
	for (int i = 0; i < RINGS; i++) {
		fake_ring_init(&ring[i], 4);
		rings_add(&rings, &ring[i]);
	}
}

static void teardown(void)
{
	for (int i = 0; i < RINGS; i++)
		fake_ring_release(&ring[i]);
	rings_release(&rings);
}

static void put(int at, uint64_t time)
{
	struct perf_words w = words_sample(1, 2, 3, time, 0, false);

	fake_ring_put(&ring[at], &w);
}

START_TEST(records_come_in_order_whatever_ring_they_are_in)
{
	struct outside_record r;
	struct outside_ring *from;
	uint64_t time = 1000, last = 0;
	struct rng rng;
	int n = 0;

	rng_seed(&rng, 7, (uint64_t)_i);
	for (int i = 0; i < 200; i++)
		put((int)rng_below(&rng, RINGS), time += rng_below(&rng, 9));
	while (rings_next(&rings, UINT64_MAX, &r, &from)) {
		ck_assert_uint_ge(r.time, last);
		last = r.time;
		n++;
	}
	ck_assert_int_eq(n, 200);
	ck_assert_uint_eq(last, time);
}
END_TEST

START_TEST(a_record_after_the_time_of_reading_waits)
{
	struct outside_record r;
	struct outside_ring *from;

	put(0, 30);
	put(1, 20);
	ck_assert(rings_next(&rings, 25, &r, &from));
	ck_assert_uint_eq(r.time, 20);
	ck_assert_ptr_eq(from, &ring[1]);
	ck_assert(!rings_next(&rings, 25, &r, &from));
	/* What came later in another ring is earlier. */
	put(2, 28);
	ck_assert(rings_next(&rings, 40, &r, &from));
	ck_assert_uint_eq(r.time, 28);
	ck_assert(rings_next(&rings, 40, &r, &from));
	ck_assert_uint_eq(r.time, 30);
	ck_assert(!rings_next(&rings, 40, &r, &from));
}
END_TEST

START_TEST(a_ring_that_was_taken_away_is_not_read)
{
	struct outside_record r;
	struct outside_ring *from;

	put(0, 30);
	put(1, 20);
	rings_remove(&rings, &ring[1]);
	ck_assert(rings_next(&rings, 40, &r, &from));
	ck_assert_uint_eq(r.time, 30);
	ck_assert(!rings_next(&rings, 40, &r, &from));
}
END_TEST

START_TEST(a_mapping_whose_path_is_too_long_is_not_forgotten)
{
	struct outside_record r;
	struct outside_ring *from;
	uint64_t words[512] = { 0 };
	struct perf_event_header h = { .type = PERF_RECORD_MMAP2,
				       .size = sizeof(words) };

	memcpy(words, &h, sizeof(h));
	for (size_t i = 0; i < 512; i += WORDS_MAX) {
		struct perf_words w = { .words = WORDS_MAX };

		memcpy(w.word, words + i, sizeof(w.word));
		fake_ring_put(&ring[0], &w);
	}
	put(0, 50);
	ck_assert(rings_next(&rings, 60, &r, &from));
	ck_assert_uint_eq(r.time, 50);
	ck_assert(rings.maps_missed);
	ck_assert_uint_eq(rings.damaged, 0);
}
END_TEST

START_TEST(a_damaged_ring_is_counted_and_the_others_go_on)
{
	struct outside_record r;
	struct outside_ring *from;
	struct perf_words w = { .words = 2 }; /* a record of length 0 */

	fake_ring_put(&ring[0], &w);
	put(1, 50);
	ck_assert(rings_next(&rings, 60, &r, &from));
	ck_assert_uint_eq(r.time, 50);
	ck_assert_uint_eq(rings.damaged, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("outside_rings");
	TCase *c = tcase_create("rings");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, records_come_in_order_whatever_ring_they_are_in,
			    0, 20);
	tcase_add_test(c, a_record_after_the_time_of_reading_waits);
	tcase_add_test(c, a_ring_that_was_taken_away_is_not_read);
	tcase_add_test(c, a_mapping_whose_path_is_too_long_is_not_forgotten);
	tcase_add_test(c, a_damaged_ring_is_counted_and_the_others_go_on);
	suite_add_tcase(s, c);
	return run_suite(s);
}
