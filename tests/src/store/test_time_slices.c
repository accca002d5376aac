/* SPDX-License-Identifier: MIT */
/*
 * test_time_slices - what counts for which slice of time, as a reader finds it
 *
 * Times are made up: a run of days takes no time.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "read_memory.h"
#include "src/base/rng.h"
#include "src/store/time_slices.h"
#include "tests/run_suite.h"

#define NAME  "a.1.1.cdp"
#define OTHER "b.1.1.cdp"
#define START UINT64_C(123456789012345)
#define HOUR  UINT64_C(3600000000000)

enum {
	FOUND_MAX = 4096,
};

static struct store store;
static struct slice_table table;
static struct slice_samples samples;
static struct cdp_memory found[FOUND_MAX];
static size_t records;

static void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(
		store_create(&store, sandbox_fd, NAME, STORE_MAX_BYTES_DEFAULT),
		0);
	store.header->start_mono = START;
	memset(&table, 0, sizeof(table));
	memset(&samples, 0, sizeof(samples));
	records = 0;
}

static int take(void *ctx, const void *record)
{
	ck_assert_uint_lt(records, FOUND_MAX);
	memcpy(&found[records++], record, sizeof(*found));
	return 0;
}

static void read_back(const char *file)
{
	records = 0;
	read_memory(file, take);
}

static int detect_at(uint64_t now, uint32_t publisher, enum sharing sharing,
		     uint32_t weight)
{
	struct detection d = { .publisher_thread = publisher,
			       .detector_thread = 7,
			       .sharing = sharing,
			       .weight = weight };

	return slice_table_add(&store, &table, &d, now);
}

static uint64_t half(uint64_t word, enum sharing sharing)
{
	return sharing == SHARING_TRUE ? word >> 32 : (uint32_t)word;
}

/* All that was found of @kind in a slice that contains @at, or in any (0). */
static uint64_t sum(enum cdp_memory_kind kind, uint32_t publisher,
		    enum sharing sharing, uint64_t at)
{
	uint64_t n = 0;

	for (size_t i = 0; i < records; i++) {
		const struct cdp_memory_slices *s = &found[i].slices;

		if (found[i].kind != kind || s->publisher_thread != publisher)
			continue;
		for (uint32_t k = 0; k < CDP_SLICES; k++)
			if (!at || at >> s->shift == s->first + k)
				n += kind == CDP_MEMORY_SAMPLED
					     ? s->count[k]
					     : half(s->count[k], sharing);
	}
	return n;
}

START_TEST(no_run_has_more_than_65_slices_of_its_last_length)
{
	ck_assert_uint_eq(time_slice_shift(0), CDP_SLICE_SHIFT_MIN);
	for (uint64_t elapsed = 1; elapsed < UINT64_MAX / 2; elapsed *= 2)
		for (int64_t near = -1; near <= 1; near++) {
			uint64_t e = elapsed + (uint64_t)near;
			uint32_t shift = time_slice_shift(e);

			ck_assert_uint_lt(e >> shift, TIME_SLICES_MAX);
			if (shift > CDP_SLICE_SHIFT_MIN)
				ck_assert_uint_ge(e >> shift,
						  TIME_SLICES_MAX / 2);
		}
}
END_TEST

START_TEST(detections_count_by_slice_pair_weight_and_sharing)
{
	uint64_t slice = 1 << CDP_SLICE_SHIFT_MIN;

	ck_assert_int_eq(detect_at(START, 1, SHARING_FALSE, 0), 0);
	ck_assert_int_eq(detect_at(START, 1, SHARING_TRUE, 5), 0);
	ck_assert_int_eq(detect_at(START, 2, SHARING_FALSE, 1), 0);
	ck_assert_int_eq(detect_at(START + slice, 1, SHARING_FALSE, 2), 0);
	read_back(NAME);
	ck_assert_uint_le(records, 4); /* a record ends at a multiple of 12 */
	ck_assert_uint_eq(sum(CDP_MEMORY_SLICES, 1, SHARING_FALSE, START), 1);
	ck_assert_uint_eq(sum(CDP_MEMORY_SLICES, 1, SHARING_TRUE, START), 5);
	ck_assert_uint_eq(sum(CDP_MEMORY_SLICES, 2, SHARING_FALSE, START), 1);
	ck_assert_uint_eq(
		sum(CDP_MEMORY_SLICES, 1, SHARING_FALSE, START + slice), 2);
	ck_assert_uint_eq(sum(CDP_MEMORY_SLICES, 1, SHARING_TRUE, 0), 5);
}
END_TEST

/*
 * A day in steps of 50 ms, against an array that is folded in place: whatever
 * the length of the slices at the end, each has what happened in it.
 */
START_TEST(what_a_long_run_counted_folds_into_64_slices_without_loss)
{
	uint64_t step = 50000000, ticks = 24 * HOUR / step, last, wrong = 0;
	static uint64_t folded[TIME_SLICES_MAX + 1];
	static uint64_t read[TIME_SLICES_MAX + 1];
	struct rng rng;
	uint32_t shift;

	rng_seed(&rng, 1, 1);
	shift = time_slice_shift(ticks * step);
	last = START >> shift;
	for (uint64_t i = 0; i < ticks; i++) {
		uint64_t now = START + i * step + rng_next(&rng) % step;

		if (rng_next(&rng) % 16)
			continue;
		ck_assert_int_eq(detect_at(now, 1, SHARING_TRUE, 3), 0);
		ck_assert_int_eq(slice_samples_add(&store, &samples, now), 0);
		folded[(now >> shift) - last]++;
	}
	read_back(NAME);
	ck_assert_uint_le(records, 2 * 80);
	for (size_t i = 0; i < records; i++)
		for (uint32_t k = 0; k < CDP_SLICES; k++) {
			const struct cdp_memory_slices *s = &found[i].slices;
			uint64_t at = (s->first + k) << s->shift >> shift;

			if (s->count[k] && found[i].kind == CDP_MEMORY_SAMPLED)
				read[at - last] += s->count[k];
			else if (s->count[k])
				read[at - last] -= 2 * (s->count[k] >> 32) / 3;
		}
	for (size_t i = 0; i <= TIME_SLICES_MAX; i++)
		wrong += read[i] + folded[i] != 0;
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_gt(folded[TIME_SLICES_MAX / 2], 0);
}
END_TEST

START_TEST(more_pairs_than_there_is_room_for_count_as_others)
{
	uint64_t all = SLICE_TABLE_MAX + 1000;

	for (uint32_t i = 0; i < all; i++)
		ck_assert_int_eq(detect_at(START, 10 + i, SHARING_FALSE, 1), 0);
	ck_assert_int_eq(detect_at(START, 10, SHARING_FALSE, 1), 0);
	read_back(NAME);
	ck_assert_uint_eq(records, SLICE_TABLE_MAX + 1);
	ck_assert_uint_eq(
		sum(CDP_MEMORY_SLICES, CDP_SLICE_OTHERS, SHARING_FALSE, START),
		1000);
	ck_assert_uint_eq(sum(CDP_MEMORY_SLICES, 10, SHARING_FALSE, 0), 2);
}
END_TEST

START_TEST(a_count_stops_at_its_greatest_value_and_spares_the_other)
{
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(detect_at(START, 1, SHARING_FALSE, UINT32_MAX),
				 0);
	ck_assert_int_eq(detect_at(START, 1, SHARING_TRUE, 2), 0);
	read_back(NAME);
	ck_assert_uint_eq(sum(CDP_MEMORY_SLICES, 1, SHARING_FALSE, START),
			  UINT32_MAX);
	ck_assert_uint_eq(sum(CDP_MEMORY_SLICES, 1, SHARING_TRUE, START), 2);
}
END_TEST

START_TEST(times_before_the_start_or_far_after_it_are_no_harm)
{
	static const uint64_t times[] = { 0, 1, START - 1, 2 * START,
					  UINT64_MAX / 2 };

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		ck_assert_int_eq(detect_at(times[i], 1, SHARING_FALSE, 1), 0);
		ck_assert_int_eq(slice_samples_add(&store, &samples, times[i]),
				 0);
	}
	ck_assert_int_eq(detect_at(START, 1, SHARING_FALSE, 1), 0);
	read_back(NAME);
	ck_assert_uint_ge(sum(CDP_MEMORY_SLICES, 1, SHARING_FALSE, START), 1);
}
END_TEST

START_TEST(a_full_file_is_told)
{
	struct store small;
	struct detection d = { .sharing = SHARING_TRUE };

	ck_assert_int_eq(
		store_create(&small, sandbox_fd, OTHER, 2 * CDP_PAGE_BYTES), 0);
	while (store_page(&small, CDP_MAPS))
		;
	ck_assert_int_eq(slice_table_add(&small, &table, &d, 1), -ENOSPC);
	ck_assert_int_eq(slice_samples_add(&small, &samples, 1), -ENOSPC);
	store_release(&small);
}
END_TEST

START_TEST(another_file_gets_records_of_its_own)
{
	struct store child;

	ck_assert_int_eq(slice_samples_add(&store, &samples, START), 0);
	ck_assert_int_eq(store_create(&child, sandbox_fd, OTHER,
				      STORE_MAX_BYTES_DEFAULT),
			 0);
	child.header->start_mono = START;
	slice_samples_restart(&samples);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(slice_samples_add(&child, &samples, START), 0);
	read_back(NAME);
	ck_assert_uint_eq(sum(CDP_MEMORY_SAMPLED, 0, 0, START), 1);
	read_back(OTHER);
	ck_assert_uint_eq(sum(CDP_MEMORY_SAMPLED, 0, 0, START), 3);
	store_release(&child);
}
END_TEST

enum {
	THREADS = 4,
	ROUNDS = 20000,
};

/* Each thread is at a time of its own, so records change all the time. */
static void *rounds(void *arg)
{
	uint64_t slice = UINT64_C(1) << CDP_SLICE_SHIFT_MIN;
	uint64_t now = START + *(uint64_t *)arg * slice * CDP_SLICES;

	for (int i = 0; i < ROUNDS; i++)
		while (slice_samples_add(&store, &samples,
					 now + (uint64_t)i % 2 * slice))
			;
	return NULL;
}

START_TEST(threads_lose_no_sample)
{
	pthread_t thread[THREADS];
	uint64_t at[THREADS];

	for (uint64_t i = 0; i < THREADS; i++) {
		at[i] = i;
		ck_assert_int_eq(
			pthread_create(&thread[i], NULL, rounds, &at[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	read_back(NAME);
	ck_assert_uint_le(records, THREADS + 1);
	ck_assert_uint_eq(sum(CDP_MEMORY_SAMPLED, 0, 0, 0), THREADS * ROUNDS);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("time_slices");
	TCase *tc = tcase_create("time_slices");

	tcase_add_checked_fixture(tc, setup, sandbox_teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, no_run_has_more_than_65_slices_of_its_last_length);
	tcase_add_test(tc, detections_count_by_slice_pair_weight_and_sharing);
	tcase_add_test(
		tc, what_a_long_run_counted_folds_into_64_slices_without_loss);
	tcase_add_test(tc, more_pairs_than_there_is_room_for_count_as_others);
	tcase_add_test(
		tc, a_count_stops_at_its_greatest_value_and_spares_the_other);
	tcase_add_test(tc, times_before_the_start_or_far_after_it_are_no_harm);
	tcase_add_test(tc, a_full_file_is_told);
	tcase_add_test(tc, another_file_gets_records_of_its_own);
	tcase_add_test(tc, threads_lose_no_sample);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
