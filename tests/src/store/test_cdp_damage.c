/* SPDX-License-Identifier: MIT */
/*
 * test_cdp_damage - files that are truncated, damaged or hostile
 *
 * For any bytes the reader must not crash (run this under AddressSanitizer and
 * UBSan too). It returns a documented error or at most the records that were
 * written, and no record with an unended string or an enumeration out of range.
 */
#include <time.h>

#include "cdp_file.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

START_TEST(a_file_cut_anywhere_is_said_to_be_cut_short)
{
	for (long bytes = sizeof(good) - 1; bytes >= 0; bytes--) {
		ck_assert_int_eq(ftruncate(file, bytes), 0);
		if (read_all(NULL) != -EMSGSIZE)
			ck_abort_msg("at %ld bytes", bytes);
	}
}
END_TEST

static void flip(uint64_t at)
{
	uint64_t bad = 0;

	for (int bit = 0; bit < 8; bit++) {
		char byte = good[at] ^ 1 << bit;

		if (pwrite(file, &byte, 1, at) != 1 || read_all(&bad) > RECORDS)
			ck_abort_msg("bit %d of byte %lu", bit, at);
	}
	put(good + at, 1, at);
}

START_TEST(any_bit_of_the_header_may_be_wrong)
{
	for (uint64_t at = 0; at < sizeof(struct cdp_header); at++)
		flip(at);
	ck_assert_int_eq(read_all(NULL), RECORDS - 1); /* all put back */
}
END_TEST

START_TEST(any_bit_of_the_pages_may_be_wrong)
{
	for (int section = CDP_THREADS; section < CDP_SECTIONS; section++) {
		uint64_t at = page_of(section);
		uint64_t end = at + CDP_PAGE_HEADER_BYTES +
			       2 * cdp_record_bytes(section);

		for (; at < end; at++)
			flip(at);
	}
	ck_assert_int_eq(read_all(NULL), RECORDS - 1);
}
END_TEST

START_TEST(any_bytes_may_follow_a_good_header)
{
	static uint64_t noise[(sizeof(good) - CDP_PAGE_BYTES) / 8];
	uint64_t bad = 0;
	struct rng r;

	rng_seed(&r, 3, 0);
	for (int n = 0; n < 300; n++) {
		for (size_t i = 0; i < sizeof(noise) / 8; i++)
			noise[i] = rng_next(&r) & rng_next(&r);
		/* Half of them look like pages at first. */
		for (uint32_t page = 0; n % 2 && page < PAGES - 1; page++)
			noise[page * CDP_PAGE_BYTES / 8] =
				1 + rng_below(&r, 4) +
				(rng_below(&r, 70) << 32);
		put(noise, sizeof(noise), CDP_PAGE_BYTES);
		ck_assert_int_ge(read_all(&bad), 0);
	}
	ck_assert_uint_gt(bad, 300);
}
END_TEST

START_TEST(random_bytes_are_no_cdp_file)
{
	uint64_t noise[64];
	struct rng r;

	rng_seed(&r, 5, 0);
	for (int n = 0; n < 300; n++) {
		for (size_t i = 0; i < 64; i++)
			noise[i] = rng_next(&r);
		put(noise, sizeof(noise), 0);
		ck_assert_int_eq(read_all(NULL), -EBADMSG);
	}
}
END_TEST

START_TEST(pages_beyond_the_file_are_not_looked_for)
{
	uint64_t at = 0;

	put_field(struct cdp_header, pages, UINT64_MAX);
	ck_assert_int_eq(read_all(NULL), RECORDS - 1);
}
END_TEST

/* It would take days to look at all of its pages. */
START_TEST(a_file_of_no_sane_size_is_refused_at_once)
{
	struct timespec begin, end;
	uint64_t at = 0;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	put_field(struct cdp_header, pages, UINT64_MAX);
	ck_assert_int_eq(ftruncate(file, INT64_C(1) << 40), 0);
	ck_assert_int_eq(read_all(NULL), -ENODATA);
	clock_gettime(CLOCK_MONOTONIC, &end);
	ck_assert_int_lt(end.tv_sec - begin.tv_sec, 10);
}
END_TEST

static int cut_file(void *ctx, const void *record)
{
	++*(int *)ctx;
	return ftruncate(file, CDP_PAGE_BYTES) ? -errno : 0;
}

START_TEST(a_file_that_shrinks_meanwhile_is_an_error_and_no_signal)
{
	struct cdp_reader r;
	int calls = 0;

	ck_assert_int_eq(open_file(&r), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_THREADS, cut_file, &calls, NULL),
			 -EMSGSIZE);
	ck_assert_int_eq(calls, 1);
	cdp_close(&r);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cdp_damage");
	TCase *tc = tcase_create("cdp_damage");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_file_cut_anywhere_is_said_to_be_cut_short);
	tcase_add_test(tc, any_bit_of_the_header_may_be_wrong);
	tcase_add_test(tc, any_bit_of_the_pages_may_be_wrong);
	tcase_add_test(tc, any_bytes_may_follow_a_good_header);
	tcase_add_test(tc, random_bytes_are_no_cdp_file);
	tcase_add_test(tc, pages_beyond_the_file_are_not_looked_for);
	tcase_add_test(tc, a_file_of_no_sane_size_is_refused_at_once);
	tcase_add_test(tc,
		       a_file_that_shrinks_meanwhile_is_an_error_and_no_signal);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
