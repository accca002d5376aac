/* SPDX-License-Identifier: MIT */
/*
 * test_outside_memory - what may be believed of memory that is read too late
 */
#include <check.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analysis/outside/memory.h"
#include "analysis/outside/now.h"
#include "tests/run_suite.h"

static struct outside_memory memory;
static struct keys keys;
static struct space space;
static const struct space_sink nowhere;
static _Alignas(64) uint64_t variable[16];
static const uint64_t constant[16] = { 1, 2, 3 };

static void setup(void)
{
	memory_init(&memory);
	space_init(&space, getpid(), 1, &keys);
	ck_assert_int_eq(space_read(&space, &nowhere), 0);
}

static void teardown(void)
{
	memory_release(&memory);
	space_release(&space);
	keys_release(&keys);
}

/* Read @n bytes as they were at @time. */
static int read_at(uint64_t time, const void *at, void *buf, size_t n)
{
	struct memory m = memory_at(&memory, &space, time);

	return m.read(m.ctx, (uint64_t)(uintptr_t)at, buf, n);
}

START_TEST(memory_that_cannot_change_is_exact)
{
	uint64_t value;

	ck_assert_int_eq(read_at(0, &constant[1], &value, 8), 0);
	ck_assert_uint_eq(value, 2);
	ck_assert(!memory.verified && !memory.racy);
	ck_assert_int_eq(read_at(0, (void *)&setup, &value, 8), 0);
	ck_assert_int_eq(memcmp(&value, (void *)&setup, 8), 0);
	ck_assert(!memory.verified && !memory.racy);
}
END_TEST

START_TEST(writable_memory_is_believed_only_the_second_time)
{
	uint64_t value, later;

	variable[0] = 5;
	ck_assert_int_eq(read_at(outside_now(), variable, &value, 8), -EFAULT);
	ck_assert(memory.racy);
	/* An interrupt a moment later, and one long after. */
	ck_assert_int_eq(read_at(outside_now(), variable, &value, 8), -EFAULT);
	later = outside_now() + 2000000;
	ck_assert_int_eq(read_at(later, variable, &value, 8), 0);
	ck_assert(memory.verified && !memory.racy);
	ck_assert_uint_eq(value, 5);
}
END_TEST

/* A stack of which the kernel copied the first half. */
static uint64_t stack[128];
static uint64_t copied[64];

static void copy_stack(void)
{
	for (size_t i = 0; i < 128; i++)
		stack[i] = i;
	memcpy(copied, stack, sizeof(copied));
	memory.stack =
		(struct memory_copy){ (uint64_t)(uintptr_t)stack,
				      (const uint8_t *)copied, sizeof(copied) };
}

START_TEST(the_copied_stack_is_as_it_was)
{
	uint64_t value;

	copy_stack();
	stack[3] = 1000;
	ck_assert_int_eq(read_at(0, &stack[3], &value, 8), 0);
	ck_assert_uint_eq(value, 3);
	ck_assert(!memory.verified && !memory.racy);
	ck_assert_int_eq(read_at(0, &stack[100], &value, 8), -EFAULT);
	ck_assert(memory.racy);
}
END_TEST

START_TEST(frames_beyond_the_copy_are_believed_while_its_end_is_the_same)
{
	uint64_t value[4];

	copy_stack();
	stack[3] = 1000; /* the innermost frames have returned */
	memory.walking = true;
	ck_assert_int_eq(read_at(0, &stack[62], value, 32), 0);
	ck_assert_uint_eq(value[0], 62);
	ck_assert_uint_eq(value[3], 65);
	stack[60] = 1000; /* and now those at the end of the copy */
	ck_assert_int_eq(read_at(0, &stack[62], value, 32), -EFAULT);
	ck_assert_int_eq(read_at(0, &stack[62], value, 16), 0);
	memory.stack.n = 0;
	ck_assert_int_eq(read_at(0, &stack[62], value, 8), -EFAULT);
	memory.walking = false;
}
END_TEST

START_TEST(a_change_anywhere_in_the_line_begins_anew)
{
	uint64_t value, later = outside_now() + 1000000000;

	read_at(outside_now(), variable, &value, 8);
	ck_assert_int_eq(read_at(later, variable, &value, 8), 0);
	variable[7]++;
	/* What it says now it may not have said then. */
	ck_assert_int_eq(read_at(outside_now(), variable, &value, 8), -EFAULT);
	ck_assert_int_eq(read_at(later, variable, &value, 8), 0);
	/* The next line is another one. */
	ck_assert_int_eq(read_at(outside_now(), variable + 8, &value, 8),
			 -EFAULT);
}
END_TEST

START_TEST(a_value_on_two_lines_needs_both)
{
	uint64_t value, later = outside_now() + 1000000000;
	char *middle = (char *)variable + 60;

	read_at(outside_now(), variable, &value, 8);
	ck_assert_int_eq(read_at(later, variable, &value, 8), 0);
	/* Of the second line nothing is known, and then it is. */
	ck_assert_int_eq(read_at(outside_now(), middle, &value, 8), -EFAULT);
	ck_assert_int_eq(read_at(outside_now(), variable + 8, &value, 8),
			 -EFAULT);
	ck_assert_int_eq(read_at(later, middle, &value, 8), 0);
	ck_assert_int_eq(memcmp(&value, middle, 8), 0);
}
END_TEST

START_TEST(what_is_not_mapped_cannot_be_read)
{
	uint64_t value;

	ck_assert_int_eq(read_at(0, (void *)8, &value, 8), -EFAULT);
	ck_assert(!memory.racy);
}
END_TEST

START_TEST(code_that_was_mapped_anew_is_read_again)
{
	char path[] = "/tmp/test_outside_memory.XXXXXX";
	int fd = mkstemp(path);
	uint64_t value;
	char *code;

	unlink(path);
	ck_assert_int_eq(ftruncate(fd, 4096), 0);
	ck_assert_int_eq(pwrite(fd, "one.....", 8, 0), 8);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (code == MAP_FAILED) /* a file system without execution */
		return;
	space_read(&space, &nowhere);
	ck_assert_int_eq(read_at(0, code, &value, 8), 0);
	ck_assert_int_eq(pwrite(fd, "two.....", 8, 0), 8);
	ck_assert_int_eq(read_at(0, code, &value, 8), 0);
	ck_assert_int_eq(memcmp(&value, "one.....", 8), 0);
	memory_forget_code(&memory, &space);
	ck_assert_int_eq(read_at(0, code, &value, 8), 0);
	ck_assert_int_eq(memcmp(&value, "two.....", 8), 0);
	munmap(code, 4096);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("outside_memory");
	TCase *c = tcase_create("memory");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, memory_that_cannot_change_is_exact);
	tcase_add_test(c, writable_memory_is_believed_only_the_second_time);
	tcase_add_test(c, the_copied_stack_is_as_it_was);
	tcase_add_test(
		c,
		frames_beyond_the_copy_are_believed_while_its_end_is_the_same);
	tcase_add_test(c, a_change_anywhere_in_the_line_begins_anew);
	tcase_add_test(c, a_value_on_two_lines_needs_both);
	tcase_add_test(c, what_is_not_mapped_cannot_be_read);
	tcase_add_test(c, code_that_was_mapped_anew_is_read_again);
	suite_add_tcase(s, c);
	return run_suite(s);
}
