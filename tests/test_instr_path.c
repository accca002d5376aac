/* SPDX-License-Identifier: MIT */
/*
 * test_instr_path - paths from frames of which some are left over
 *
 * A stack is simulated: each call lays its return address below the caller's
 * frame, and what ends lies there until it is written over.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/instr_path.h"

enum {
	WORDS = 1 << 16,
	FRAMES = 400,
};

#define STACK_LOW UINT64_C(0x7ffd00000000)

static uint64_t stack[WORDS];
static struct instr_frame frame[FRAMES];
static struct path_call call[FRAMES];
static uint32_t frames;
static uint64_t sp;
static int reads;

static void setup(void)
{
	memset(stack, 0, sizeof(stack));
	frames = 0;
	reads = 0;
	sp = STACK_LOW + sizeof(stack) - 64;
}

static uint64_t *word(uint64_t addr)
{
	return &stack[(addr - STACK_LOW) / sizeof(stack[0])];
}

static int read_stack(void *ctx, uint64_t addr, void *buf, size_t n)
{
	reads++;
	if (addr < STACK_LOW || addr + n > STACK_LOW + sizeof(stack))
		return -EFAULT;
	memcpy(buf, word(addr), n);
	return 0;
}

static struct instr_stack readable = { .read = read_stack };

/* Function @f is called, from a place of its own in its caller. */
static void enter(uint64_t f, uint64_t caller, uint64_t frame_bytes)
{
	sp -= sizeof(uint64_t);
	*word(sp) = caller;
	sp -= frame_bytes;
	frame[frames++] = (struct instr_frame){ sp, caller, f };
}

static uint32_t path_at(uint64_t at)
{
	return instr_path(frame, frames, at, &readable, call);
}

static void is(uint32_t calls, uint32_t i, uint64_t caller, bool recurs)
{
	ck_assert_uint_lt(i, calls);
	ck_assert_uint_eq(call[i].ip, caller - 1);
	ck_assert_int_eq(call[i].recurs, recurs);
}

START_TEST(calls_come_outermost_first)
{
	uint32_t n;

	enter(1, 0x101, 32);
	enter(2, 0x202, 128);
	enter(3, 0x303, 24);
	n = path_at(sp);
	ck_assert_uint_eq(n, 3);
	is(n, 0, 0x101, false);
	is(n, 1, 0x202, false);
	is(n, 2, 0x303, false);
	ck_assert_int_eq(reads, 1); /* all in one page */
}
END_TEST

START_TEST(without_frames_there_is_no_path)
{
	ck_assert_uint_eq(path_at(sp), 0);
}
END_TEST

START_TEST(what_a_jump_left_below_is_no_longer_active)
{
	uint64_t landing;
	uint32_t n;

	enter(1, 0x101, 32);
	enter(2, 0x202, 32);
	landing = sp;
	enter(3, 0x303, 32);
	enter(4, 0x404, 32);
	n = path_at(landing);
	ck_assert_uint_eq(n, 2);
	is(n, 1, 0x202, false);
}
END_TEST

/* A jump out of three frames, and then a call with a frame over all three. */
START_TEST(what_lies_in_the_frame_of_another_is_no_longer_active)
{
	uint64_t landing;
	uint32_t n;

	enter(1, 0x101, 32);
	landing = sp;
	for (uint64_t i = 2; i < 5; i++)
		enter(i, i * 0x101, 48);
	sp = landing;
	enter(5, 0x505, 4096);
	enter(6, 0x606, 16);
	n = path_at(sp);
	ck_assert_uint_eq(n, 3);
	is(n, 0, 0x101, false);
	is(n, 1, 0x505, false);
	is(n, 2, 0x606, false);
}
END_TEST

START_TEST(code_without_hooks_may_lie_between)
{
	uint32_t n;

	enter(1, 0x101, 32);
	sp -= 6000; /* its frames */
	enter(2, 0x202, 32);
	n = path_at(sp);
	ck_assert_uint_eq(n, 2);
	is(n, 1, 0x202, false);
}
END_TEST

START_TEST(another_stack_is_believed)
{
	uint32_t n;

	enter(1, 0x101, 32);
	frame[frames++] =
		(struct instr_frame){ 0x100000, 0x202, 2 }; /* a handler's */
	frame[frames++] = (struct instr_frame){ 0xFFF00, 0x303, 3 };
	n = path_at(0xFFF00);
	ck_assert_uint_eq(n, 3);
	is(n, 0, 0x101, false);
	is(n, 2, 0x303, false);
}
END_TEST

START_TEST(a_function_that_recurs_is_there_once_where_it_came_first)
{
	uint32_t n;

	enter(1, 0x101, 32);
	enter(2, 0x202, 32);
	for (int i = 0; i < 300; i++)
		enter(2, 0x222, 32);
	enter(3, 0x303, 32);
	n = path_at(sp);
	ck_assert_uint_eq(n, 3);
	is(n, 0, 0x101, false);
	is(n, 1, 0x202, true);
	is(n, 2, 0x303, false);
}
END_TEST

/* 1 -> 2 -> 3 -> 2 -> 4: 3 lies within the recursion of 2. */
START_TEST(what_lies_within_a_recursion_is_left_out)
{
	uint32_t n;

	enter(1, 0x101, 32);
	enter(2, 0x202, 32);
	enter(3, 0x303, 32);
	enter(2, 0x212, 32);
	enter(4, 0x404, 32);
	n = path_at(sp);
	ck_assert_uint_eq(n, 3);
	is(n, 1, 0x202, true);
	is(n, 2, 0x404, false);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("instr_path");
	TCase *tc = tcase_create("instr_path");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, calls_come_outermost_first);
	tcase_add_test(tc, without_frames_there_is_no_path);
	tcase_add_test(tc, what_a_jump_left_below_is_no_longer_active);
	tcase_add_test(tc,
		       what_lies_in_the_frame_of_another_is_no_longer_active);
	tcase_add_test(tc, code_without_hooks_may_lie_between);
	tcase_add_test(tc, another_stack_is_believed);
	tcase_add_test(
		tc, a_function_that_recurs_is_there_once_where_it_came_first);
	tcase_add_test(tc, what_lies_within_a_recursion_is_left_out);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
