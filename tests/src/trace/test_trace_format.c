/* SPDX-License-Identifier: MIT */
/*
 * test_trace_format - numbers of .trace files, and offsets as documented
 */
#include <stddef.h>
#include <string.h>

#include "src/trace/trace_format.h"
#include "tests/run_suite.h"

static const uint64_t numbers[] = {
	0,          1,
	127,        128,
	16383,      16384,
	UINT32_MAX, UINT64_C(1) << 63,
	INT64_MAX,  UINT64_MAX - 1,
	UINT64_MAX,
};
enum {
	NUMBERS = sizeof(numbers) / sizeof(numbers[0])
};

START_TEST(a_number_reads_as_it_was_written)
{
	unsigned char buf[TRACE_NUMBER_BYTES];
	unsigned char *end = trace_put(buf, numbers[_i]);
	uint64_t n = 0;

	ck_assert_ptr_eq(trace_get(buf, end, &n), end);
	ck_assert_uint_eq(n, numbers[_i]);
	ck_assert_ptr_null(trace_get(buf, end - 1, &n));
	ck_assert_uint_eq(trace_zigzag(trace_unzigzag(numbers[_i])),
			  numbers[_i]);
}
END_TEST

START_TEST(a_number_of_more_than_64_bits_is_refused)
{
	unsigned char buf[11];
	uint64_t n;

	memset(buf, 0xff, sizeof(buf));
	buf[10] = 0;
	ck_assert_ptr_null(trace_get(buf, buf + sizeof(buf), &n));
	buf[9] = 2;
	ck_assert_ptr_null(trace_get(buf, buf + 10, &n));
	buf[9] = 1;
	ck_assert_ptr_nonnull(trace_get(buf, buf + 10, &n));
	ck_assert_uint_eq(n, UINT64_MAX);
}
END_TEST

START_TEST(small_differences_of_both_signs_take_one_byte)
{
	unsigned char buf[TRACE_NUMBER_BYTES];

	ck_assert_ptr_eq(trace_put(buf, trace_zigzag(63)), buf + 1);
	ck_assert_ptr_eq(trace_put(buf, trace_zigzag(-64)), buf + 1);
	ck_assert_ptr_eq(trace_put(buf, trace_zigzag(64)), buf + 2);
	ck_assert_int_eq(trace_unzigzag(trace_zigzag(INT64_MIN)), INT64_MIN);
}
END_TEST

/* The tables of docs/trace.md. */
START_TEST(structures_are_as_documented)
{
	ck_assert_uint_eq(sizeof(struct trace_header), 64);
	ck_assert_uint_eq(offsetof(struct trace_header, version), 8);
	ck_assert_uint_eq(offsetof(struct trace_header, header_bytes), 12);
	ck_assert_uint_eq(offsetof(struct trace_header, pid), 16);
	ck_assert_uint_eq(offsetof(struct trace_header, start_real), 24);
	ck_assert_uint_eq(sizeof(struct trace_chunk), 32);
	ck_assert_uint_eq(offsetof(struct trace_chunk, kind), 4);
	ck_assert_uint_eq(offsetof(struct trace_chunk, thread), 8);
	ck_assert_uint_eq(offsetof(struct trace_chunk, bytes), 12);
	ck_assert_uint_eq(offsetof(struct trace_chunk, stored), 16);
	ck_assert_uint_eq(offsetof(struct trace_chunk, check), 20);
	ck_assert_uint_eq(offsetof(struct trace_chunk, instructions), 24);
	ck_assert_uint_eq(trace_check("a", 1), 0xe40c292c); /* FNV-1a's */
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace_format");
	TCase *t = tcase_create("trace_format");

	tcase_add_loop_test(t, a_number_reads_as_it_was_written, 0, NUMBERS);
	tcase_add_test(t, a_number_of_more_than_64_bits_is_refused);
	tcase_add_test(t, small_differences_of_both_signs_take_one_byte);
	tcase_add_test(t, structures_are_as_documented);
	suite_add_tcase(s, t);
	return run_suite(s);
}
