/* SPDX-License-Identifier: MIT */
/*
 * test_stack_bounds - the thread's own stack among all mappings
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include "preload/threads/stack_bounds.h"
#include "tests/run_suite.h"

static const uint64_t list[][2] = {
	{ 0x55a0cafe1000, 0x55a0cafe2000 },
	{ 0x7f0000000000, 0x7f0000001000 },
	{ 0x7f0000001000, 0x7f0000801000 },
	{ 0x7ffe00000000, 0x7ffe00021000 },
	{ 0xffffffffff600000, 0xffffffffff601000 },
};

static struct stack_bounds search(uint64_t at, uint64_t limit)
{
	struct stack_search s = { .at = at, .limit = limit };

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (stack_search_take(&s, list[i][0], list[i][1]))
			break;
	return s.found;
}

START_TEST(a_stack_has_all_of_its_mapping)
{
	struct stack_bounds b = search(0x7f0000800ff8, 4096);

	ck_assert_uint_eq(b.low, 0x7f0000001000);
	ck_assert_uint_eq(b.bytes, 0x800000);
}
END_TEST

START_TEST(a_stack_grows_as_far_as_its_limit)
{
	struct stack_bounds b = search(0x7ffe00000000, 8 << 20);

	ck_assert_uint_eq(b.low + b.bytes, 0x7ffe00021000);
	ck_assert_uint_eq(b.bytes, 8 << 20);
}
END_TEST

START_TEST(a_stack_grows_no_further_than_to_the_mapping_before)
{
	struct stack_bounds b = search(0x7ffe00000000, UINT64_C(1) << 46);

	ck_assert_uint_eq(b.low, 0x7f0000801000);
	ck_assert_uint_eq(b.low + b.bytes, 0x7ffe00021000);
}
END_TEST

START_TEST(what_is_not_mapped_is_no_stack)
{
	ck_assert_uint_eq(search(0x7ffe00021000, 8 << 20).bytes, 0);
	ck_assert_uint_eq(search(0x7f0000801000, 8 << 20).bytes, 0);
	ck_assert_uint_eq(search(0, 8 << 20).bytes, 0);
}
END_TEST

/* All that the C library takes for it, and what the kernel lays above. */
START_TEST(the_first_threads_stack_is_found)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct stack_bounds b;
	pthread_attr_t attr;
	size_t bytes;
	void *low;

	stack_bounds_look();
	b = stack_bounds_own();
	ck_assert_uint_lt(here - b.low, b.bytes);
	ck_assert_int_eq(pthread_getattr_np(pthread_self(), &attr), 0);
	ck_assert_int_eq(pthread_attr_getstack(&attr, &low, &bytes), 0);
	ck_assert_uint_lt((uintptr_t)low + bytes - 1 - b.low, b.bytes);
	ck_assert_uint_lt(getauxval(AT_EXECFN) - b.low, b.bytes);
	pthread_attr_destroy(&attr);
}
END_TEST

static struct stack_bounds looked_on_another;
static ucontext_t home, other;

static void look_on_another(void)
{
	stack_bounds_look();
	looked_on_another = stack_bounds_own();
}

/* A child that is forked by a coroutine begins so. */
START_TEST(where_the_first_thread_runs_by_chance_is_not_its_stack)
{
	size_t bytes = 1 << 16;
	char *stack = aligned_alloc(64, bytes);

	ck_assert_ptr_nonnull(stack);
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = bytes;
	other.uc_link = &home;
	makecontext(&other, look_on_another, 0);
	ck_assert_int_eq(swapcontext(&home, &other), 0);
	ck_assert_uint_eq(looked_on_another.bytes, 0);
	free(stack);
}
END_TEST

static void *look(void *arg)
{
	struct stack_bounds *b = arg;

	stack_bounds_look();
	*b = stack_bounds_own();
	return NULL;
}

START_TEST(other_threads_are_told_theirs)
{
	uint64_t here = (uint64_t)(uintptr_t)__builtin_frame_address(0);
	struct stack_bounds b;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, look, &b), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_uint_eq(b.bytes, 0);
	stack_bounds_tell(here + 4096, 4096); /* we are not there */
	ck_assert_uint_eq(stack_bounds_own().bytes, 0);
	stack_bounds_tell(here - 8192, 16384);
	ck_assert_uint_eq(stack_bounds_own().low, here - 8192);
	ck_assert_uint_eq(stack_bounds_own().bytes, 16384);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stack_bounds");
	TCase *tc = tcase_create("stack_bounds");

	tcase_add_test(tc, a_stack_has_all_of_its_mapping);
	tcase_add_test(tc, a_stack_grows_as_far_as_its_limit);
	tcase_add_test(tc, a_stack_grows_no_further_than_to_the_mapping_before);
	tcase_add_test(tc, what_is_not_mapped_is_no_stack);
	tcase_add_test(tc, the_first_threads_stack_is_found);
	tcase_add_test(tc,
		       where_the_first_thread_runs_by_chance_is_not_its_stack);
	tcase_add_test(tc, other_threads_are_told_theirs);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
