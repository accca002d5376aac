/* SPDX-License-Identifier: MIT */
/*
 * test_stack_bounds - the thread's own stack among all mappings
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "preload/stack_bounds.h"
#include "tests/run_suite.h"

static const char list[] =
	"55a0cafe1000-55a0cafe2000 r-xp 00001000 fe:00 12 /bin/ab-c 1\n"
	"7f0000000000-7f0000001000 ---p 00000000 00:00 0 \n"
	"7f0000001000-7f0000801000 rw-p 00000000 00:00 0 \n"
	"7ffe00000000-7ffe00021000 rw-p 00000000 00:00 0 [stack]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";

static struct stack_bounds search(uint64_t sp, bool grows, size_t piece)
{
	struct stack_search s = { .sp = sp, .grows = grows };

	for (size_t at = 0; at < sizeof(list) - 1; at += piece) {
		size_t n = sizeof(list) - 1 - at;

		if (stack_search_take(&s, list + at, n < piece ? n : piece))
			break;
	}
	return s.found;
}

/* However the list is read. */
START_TEST(a_stack_is_the_mapping_that_it_is_in)
{
	struct stack_bounds b = search(0x7f0000800ff8, false, (size_t)_i + 1);

	ck_assert_uint_eq(b.low, 0x7f0000001000);
	ck_assert_uint_eq(b.bytes, 0x800000);
}
END_TEST

START_TEST(the_first_threads_goes_down_to_the_mapping_before)
{
	struct stack_bounds b = search(0x7ffe00000000, true, (size_t)_i + 1);

	ck_assert_uint_eq(b.low, 0x7f0000801000);
	ck_assert_uint_eq(b.low + b.bytes, 0x7ffe00021000);
}
END_TEST

START_TEST(what_is_not_mapped_is_no_stack)
{
	ck_assert_uint_eq(search(0x7ffe00021000, true, 64).bytes, 0);
	ck_assert_uint_eq(search(0x7f0000801000, false, 64).bytes, 0);
	ck_assert_uint_eq(search(0, true, 64).bytes, 0);
}
END_TEST

static void *here(void *arg)
{
	struct stack_bounds *b = arg;

	*b = stack_bounds_of((uint64_t)(uintptr_t)__builtin_frame_address(0));
	return NULL;
}

/* As the C library has it. */
START_TEST(a_threads_stack_is_found)
{
	uint64_t sp = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct stack_bounds b, own = stack_bounds_of(sp);
	pthread_attr_t attr;
	pthread_t thread;
	size_t bytes;
	void *low;

	ck_assert_uint_lt(sp - own.low, own.bytes);
	ck_assert_uint_ge(own.bytes, 1 << 20);
	low = aligned_alloc(1 << 16, 1 << 20);
	ck_assert_int_eq(pthread_attr_init(&attr), 0);
	ck_assert_int_eq(pthread_create(&thread, &attr, here, &b), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(pthread_attr_getstacksize(&attr, &bytes), 0);
	ck_assert_uint_ge(b.bytes, bytes / 2);
	ck_assert_uint_ge(sp - b.low, b.bytes); /* not ours */
	ck_assert_uint_ge((uint64_t)(uintptr_t)low - b.low, b.bytes);
	free(low);
	pthread_attr_destroy(&attr);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stack_bounds");
	TCase *tc = tcase_create("stack_bounds");

	tcase_add_loop_test(tc, a_stack_is_the_mapping_that_it_is_in, 0, 80);
	tcase_add_loop_test(
		tc, the_first_threads_goes_down_to_the_mapping_before, 0, 80);
	tcase_add_test(tc, what_is_not_mapped_is_no_stack);
	tcase_add_test(tc, a_threads_stack_is_found);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
