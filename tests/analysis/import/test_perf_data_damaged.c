/* SPDX-License-Identifier: MIT */
/*
 * test_perf_data_damaged - recordings that are cut or damaged
 */
#include "perf_data_fixture.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

START_TEST(a_file_that_is_cut_anywhere_is_refused)
{
	struct perf_file f = { 0 };
	struct gen out = { 0 };

	small(&f);
	if (_i)
		perf_file_compress(&f, 100);
	perf_file_write(&f, &out);
	for (size_t cut = 0; cut < out.used; cut++) {
		/* The last string's padding may be missing. */
		if (cut + 64 > out.used)
			break;
		ck_assert_int_eq(read_bytes(&out, cut, NULL), -EBADMSG);
	}
	ck_assert_int_eq(read_bytes(&out, out.used, NULL), 0);
	gen_release(&out);
	perf_file_release(&f);
}
END_TEST

/* A stream that ends between records looks complete. */
START_TEST(a_stream_that_is_cut_within_a_record_is_refused)
{
	struct perf_file f = { 0 };
	struct gen out = { 0 };
	size_t next = 16;

	small(&f);
	perf_file_write_stream(&f, &out);
	for (size_t cut = 0; cut < out.used; cut++) {
		struct perf_event_header h;
		int err = read_bytes(&out, cut, NULL);

		if (cut < next) {
			ck_assert_int_eq(err, -EBADMSG);
			continue;
		}
		ck_assert_int_eq(err, 0);
		memcpy(&h, out.bytes + cut, sizeof(h));
		next = cut + h.size;
	}
	gen_release(&out);
	perf_file_release(&f);
}
END_TEST

/* 0: file, 1: stream, 2: compressed file, 3: compressed stream. */
START_TEST(any_damage_ends_in_an_error_or_in_records)
{
	struct perf_file f = { 0 };
	struct gen out = { 0 };
	int refused = 0;
	struct rng r;

	rng_seed(&r, 9, _i);
	small(&f);
	if (_i & 2)
		perf_file_compress(&f, 300);
	if (_i & 1)
		perf_file_write_stream(&f, &out);
	else
		perf_file_write(&f, &out);
	for (int n = 0; n < 3000; n++) {
		char *copy = gen_copy(&out, out.used);
		struct gen bad = { copy, out.used, out.used };
		int changes = 1 + (int)rng_below(&r, 3);

		for (int k = 0; k < changes; k++) {
			/*
			 * Half of the damage is in the header and the first
			 * records.
			 */
			size_t span = rng_below(&r, 2) ? 400 : bad.used - 8;
			size_t at = rng_below(&r, span);
			uint64_t noise = rng_below(&r, 2)
						 ? rng_next(&r)
						 : ~0ull >> rng_below(&r, 64);

			memcpy(copy + at, &noise, 1 + rng_below(&r, 8));
		}
		refused += read_bytes(&bad, bad.used, NULL) != 0;
		free(copy);
	}
	ck_assert_int_gt(refused, 300);
	gen_release(&out);
	perf_file_release(&f);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perf_data_damaged");
	TCase *tc = tcase_create("perf_data_damaged");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, a_file_that_is_cut_anywhere_is_refused, 0, 2);
	tcase_add_test(tc, a_stream_that_is_cut_within_a_record_is_refused);
	tcase_add_loop_test(tc, any_damage_ends_in_an_error_or_in_records, 0,
			    4);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
