/* SPDX-License-Identifier: MIT */
/*
 * test_instr_path - call paths, found among frames that are no longer active
 *
 * The tests simulate a stack: each call puts its return address below the frame
 * of its caller, and the frame of a function that ended stays until it is
 * overwritten.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preload/instr/path.h"
#include "tests/run_suite.h"

enum {
	WORDS = 1 << 16,
	FRAMES = 400,
	COPIES = 2,
};

#define STACK_LOW UINT64_C(0x7ffd00000000)

static uint64_t stack[WORDS];
static struct instr_frame frame[COPIES][FRAMES];
static uint32_t frames[COPIES];
static struct instr_path path;
static uint64_t sp;
static int reads;
static bool unreadable;

static uint64_t *word(uint64_t addr)
{
	return &stack[(addr - STACK_LOW) / sizeof(stack[0])];
}

static int read_stack(void *ctx, uint64_t addr, void *buf, size_t n)
{
	reads++;
	if (unreadable || addr < STACK_LOW ||
	    addr + n > STACK_LOW + sizeof(stack))
		return -EFAULT;
	memcpy(buf, word(addr), n);
	return 0;
}

static void setup(void)
{
	memset(stack, 0, sizeof(stack));
	memset(frames, 0, sizeof(frames));
	memset(&path, 0, sizeof(path));
	path.stack.read = read_stack;
	path.stack.bounds = (struct stack_bounds){ STACK_LOW, sizeof(stack) };
	reads = 0;
	unreadable = false;
	sp = STACK_LOW + sizeof(stack) - 64;
}

/* Call function @f from a call site of its own in its caller. */
static void enter_in(int copy, uint64_t f, uint64_t caller,
		     uint64_t frame_bytes)
{
	sp -= sizeof(uint64_t);
	*word(sp) = caller;
	sp -= frame_bytes;
	frame[copy][frames[copy]++] = (struct instr_frame){ sp, caller, f };
}

static void enter(uint64_t f, uint64_t caller, uint64_t frame_bytes)
{
	enter_in(0, f, caller, frame_bytes);
}

static void find(uint64_t at)
{
	struct instr_frames copy[COPIES];

	for (int i = 0; i < COPIES; i++)
		copy[i] = (struct instr_frames){ frame[i], frames[i] };
	instr_path_find(&path, copy, COPIES, at);
}

/* Expect that the path has these functions, as calls 0x101 and so on. */
static void is(uint64_t at, const char *functions)
{
	size_t n = strlen(functions);

	find(at);
	ck_assert_uint_eq(path.calls, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(path.call[i].ip,
				  0x101 * (uint64_t)(functions[i] - '0') - 1);
}

START_TEST(calls_come_outermost_first)
{
	enter(1, 0x101, 32);
	enter(2, 0x202, 128);
	enter(3, 0x303, 24);
	is(sp, "123");
	ck_assert_int_eq(reads, 1); /* all of them in one page */
	ck_assert(!path.is_cut);
}
END_TEST

START_TEST(without_frames_there_is_no_path)
{
	is(sp, "");
	ck_assert(!path.is_cut);
}
END_TEST

START_TEST(frames_that_a_jump_left_are_no_longer_active)
{
	uint64_t landing;

	enter(1, 0x101, 32);
	enter(2, 0x202, 32);
	landing = sp;
	enter(3, 0x303, 32);
	enter(4, 0x404, 32);
	is(landing, "12");
}
END_TEST

/* A jump out of three frames, then a call whose frame covers all three. */
START_TEST(a_frame_within_another_is_no_longer_active)
{
	uint64_t landing;

	enter(1, 0x101, 32);
	landing = sp;
	for (uint64_t i = 2; i < 5; i++)
		enter(i, i * 0x101, 48);
	sp = landing;
	enter(5, 0x505, 4096);
	enter(6, 0x606, 16);
	is(sp, "156");
	ck_assert(!path.is_cut);
}
END_TEST

/* The same, but the code that covers them has no hooks. */
START_TEST(a_frame_within_code_without_hooks_is_no_longer_active)
{
	uint64_t landing;

	enter(1, 0x101, 32);
	landing = sp;
	for (uint64_t i = 2; i < 5; i++)
		enter(i, i * 0x101, 48);
	sp = landing - 4096;
	memset(word(sp), 0, 4096);
	enter(6, 0x606, 16);
	is(sp, "16");
}
END_TEST

START_TEST(code_without_hooks_may_lie_between)
{
	enter(1, 0x101, 32);
	sp -= 6000; /* frames of that code */
	enter(2, 0x202, 32);
	is(sp, "12");
}
END_TEST

START_TEST(a_function_may_have_a_large_frame)
{
	enter(1, 0x101, 100000);
	enter(2, 0x202, 32);
	is(sp, "12");
}
END_TEST

START_TEST(the_path_is_cut_where_a_frame_is_too_large_to_look_through)
{
	enter(1, 0x101, 32);
	enter(2, 0x202, 300000);
	enter(3, 0x303, 32);
	is(sp, "3");
	ck_assert(path.is_cut);
}
END_TEST

START_TEST(a_stack_that_cannot_be_read_has_no_path)
{
	enter(1, 0x101, 32);
	unreadable = true;
	is(sp, "");
	ck_assert(path.is_cut);
}
END_TEST

/*
 * The upper half of the stack belongs to the thread, the lower to a coroutine.
 */
static uint64_t split(void)
{
	uint64_t middle = STACK_LOW + sizeof(stack) / 2;

	path.stack.bounds.low = middle;
	path.stack.bounds.bytes = sizeof(stack) / 2;
	return middle;
}

START_TEST(a_path_ends_at_a_change_of_stacks)
{
	enter(1, 0x101, 32);
	sp = split();
	sp -= 64;
	enter(2, 0x202, 32);
	enter(3, 0x303, 32);
	is(sp, "23");
}
END_TEST

/* Functions 2 and 3 have not ended: their stack is suspended. */
START_TEST(a_suspended_stack_is_on_no_path)
{
	uint64_t own;

	enter(1, 0x101, 32);
	own = sp;
	sp = split();
	enter(2, 0x202, 32);
	enter(3, 0x303, 32);
	sp = own;
	enter(4, 0x404, 32);
	is(sp, "14");
}
END_TEST

/* One stack begins where the other ends, and 2 is suspended there. */
START_TEST(stacks_that_are_not_the_threads_are_not_mixed)
{
	sp = split();
	enter(2, 0x202, 32);
	sp -= 400;
	enter(3, 0x303, 32);
	enter(4, 0x404, 32);
	is(sp, "34");
	ck_assert(!path.is_cut);
	/* It is not known which stack is the thread's own. */
	path.stack.bounds.bytes = 0;
	is(sp, "34");
	ck_assert(path.is_cut);
}
END_TEST

START_TEST(copies_of_the_hooks_share_a_path)
{
	enter_in(0, 1, 0x101, 32);
	enter_in(1, 2, 0x202, 32);
	enter_in(1, 3, 0x303, 32);
	enter_in(0, 4, 0x404, 32);
	enter_in(1, 5, 0x505, 32);
	is(sp, "12345");
	enter_in(0, 6, 0x606, 32);
	is(sp, "123456");
}
END_TEST

START_TEST(a_jump_over_frames_of_another_copy_ends_them)
{
	uint64_t landing;

	enter_in(0, 1, 0x101, 32);
	landing = sp;
	enter_in(1, 2, 0x202, 48);
	enter_in(1, 3, 0x303, 48);
	sp = landing;
	enter_in(0, 5, 0x505, 4096);
	is(sp, "15");
}
END_TEST

START_TEST(a_recurring_function_appears_once_where_it_came_first)
{
	enter(1, 0x101, 32);
	enter(2, 0x202, 32);
	for (int i = 0; i < 300; i++)
		enter(2, 0x222, 32);
	enter(3, 0x303, 32);
	is(sp, "123");
	ck_assert(!path.call[0].recurs);
	ck_assert(path.call[1].recurs);
	ck_assert(!path.call[2].recurs);
}
END_TEST

/* 1 -> 2 -> 3 -> 2 -> 4: function 3 lies within the recursion of 2. */
START_TEST(calls_within_a_recursion_are_left_out)
{
	enter(1, 0x101, 32);
	enter(2, 0x202, 32);
	enter(3, 0x303, 32);
	enter(2, 0x212, 32);
	enter(4, 0x404, 32);
	is(sp, "124");
	ck_assert(path.call[1].recurs);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("instr_path");
	TCase *tc = tcase_create("instr_path");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, calls_come_outermost_first);
	tcase_add_test(tc, without_frames_there_is_no_path);
	tcase_add_test(tc, frames_that_a_jump_left_are_no_longer_active);
	tcase_add_test(tc, a_frame_within_another_is_no_longer_active);
	tcase_add_test(tc,
		       a_frame_within_code_without_hooks_is_no_longer_active);
	tcase_add_test(tc, code_without_hooks_may_lie_between);
	tcase_add_test(tc, a_function_may_have_a_large_frame);
	tcase_add_test(
		tc, the_path_is_cut_where_a_frame_is_too_large_to_look_through);
	tcase_add_test(tc, a_stack_that_cannot_be_read_has_no_path);
	tcase_add_test(tc, a_path_ends_at_a_change_of_stacks);
	tcase_add_test(tc, a_suspended_stack_is_on_no_path);
	tcase_add_test(tc, stacks_that_are_not_the_threads_are_not_mixed);
	tcase_add_test(tc, copies_of_the_hooks_share_a_path);
	tcase_add_test(tc, a_jump_over_frames_of_another_copy_ends_them);
	tcase_add_test(tc,
		       a_recurring_function_appears_once_where_it_came_first);
	tcase_add_test(tc, calls_within_a_recursion_are_left_out);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
