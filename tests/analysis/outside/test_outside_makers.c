/* SPDX-License-Identifier: MIT */
/*
 * test_outside_makers - who gets a fine clock, and for how long
 *
 * The clocks have no processors, so the kernel is not asked for events.
 */
#include <check.h>

#include <string.h>

#include "analysis/outside/makers.h"
#include "analysis/outside/now.h"
#include "tests/run_suite.h"

enum {
	PID = 0x7f000000, /* above what the kernel gives */
	MS = 1000000,
	TICKS = 5, /* ms a period */
};

static struct tasks tasks;
static struct clocks clocks;
static struct makers makers;
static struct keys keys;
static struct task_process *process;
static struct task_thread *first;
static uint64_t now;

static void setup(void)
{
	memset(&tasks, 0, sizeof(tasks));
	makers = (struct makers){ 0 };
	clocks = (struct clocks){ .tick = MS, .ticks = TICKS };
	now = outside_now();
	process = tasks_add_process(&tasks, PID, &keys);
	first = tasks_add_thread(&tasks, process, PID);
}

static void teardown(void)
{
	while (tasks.process) {
		struct task_thread *t;

		while ((t = tasks_any_thread(&tasks, tasks.process)))
			tasks_end_thread(&tasks, t);
		tasks_end_process(&tasks, tasks.process);
	}
	tasks_release(&tasks);
}

/* @maker makes a thread that has @ms of CPU time, of @lived ms of life. */
static bool make(struct task_thread *maker, uint64_t ms, uint64_t lived)
{
	struct task_thread *t = tasks_add_thread(&tasks, process, PID + 1);
	uint64_t real = outside_now();
	bool fine;

	/* A fine clock counts from the real time at which it is opened. */
	if (now <= real)
		now = real + 1;
	makers_made(&makers, t, maker, now);
	fine = t->clock.fine;
	now += lived * MS;
	/* The period's ticks alone see no more. */
	t->cpu_ns = fine ? ms * MS : ms / TICKS * TICKS * MS;
	process->cpu_lately += t->cpu_ns;
	makers_ended(&makers, &tasks, &clocks, t, now);
	tasks_end_thread(&tasks, t);
	return fine;
}

static void seconds(int n)
{
	while (n--)
		makers_sweep(&makers, &tasks, &clocks, now += 1000 * MS);
}

START_TEST(the_maker_of_a_short_thread_gets_a_fine_clock)
{
	ck_assert(!make(first, 2, 2));
	ck_assert(first->clock.fine);
	ck_assert(make(first, 2, 2));
	ck_assert_int_eq(makers.n, 1);
}
END_TEST

START_TEST(long_threads_need_none_and_those_below_a_tick_gain_nothing)
{
	make(first, 200, 200);
	make(first, 0, 0);
	ck_assert(!first->clock.fine);
	make(NULL, 2, 2); /* of a maker that is not known */
	ck_assert_int_eq(makers.n, 0);
}
END_TEST

START_TEST(a_clock_of_one_tick_a_period_has_no_finer_one)
{
	clocks = (struct clocks){ .tick = MS, .ticks = 1 };
	make(first, 2, 2);
	ck_assert(!first->clock.fine);
}
END_TEST

START_TEST(a_short_thread_among_much_other_work_opens_none)
{
	process->cpu_lately = 201 * MS;
	make(first, 2, 2);
	ck_assert(!first->clock.fine);
	make(first, 2, 2);
	ck_assert(first->clock.fine);
}
END_TEST

START_TEST(what_existed_before_the_fine_clock_has_none)
{
	struct task_thread *old = tasks_add_thread(&tasks, process, PID + 2);

	makers_made(&makers, old, first, now);
	make(first, 2, 2);
	ck_assert(!old->clock.fine);
	now = outside_now() + 1;
	makers_made(&makers, old, first, now);
	ck_assert_uint_eq(old->clock.fine, first->clock.fine);
}
END_TEST

START_TEST(the_fine_clock_stays_while_short_threads_matter)
{
	make(first, 2, 2);
	for (int i = 0; i < 60; i++) {
		now = outside_now() + 1;
		process->cpu_lately += 900 * MS;
		for (int k = 0; k < 10; k++)
			make(first, 2, 2);
		seconds(1);
		ck_assert(first->clock.fine);
	}
}
END_TEST

START_TEST(the_fine_clock_goes_with_the_short_threads)
{
	int n = 0;

	make(first, 2, 2);
	for (; first->clock.fine && n < 60; n++) {
		process->cpu_lately += 1000 * MS;
		seconds(1);
	}
	ck_assert_int_lt(n, 10);
	ck_assert_int_eq(makers.n, 0);
	/* It was of no use: not at once again. */
	process->cpu_lately = 0;
	make(first, 2, 2);
	ck_assert(!first->clock.fine);
	seconds(10);
	make(first, 2, 2);
	ck_assert(first->clock.fine);
}
END_TEST

START_TEST(the_fine_clock_goes_with_its_process)
{
	make(first, 2, 2);
	ck_assert_int_eq(makers.n, 1);
	tasks_end_thread(&tasks, first);
	tasks_end_process(&tasks, process);
	seconds(1);
	ck_assert_int_eq(makers.n, 0);
}
END_TEST

START_TEST(there_are_so_many_and_no_more)
{
	for (int i = 0; i < MAKERS_MAX + 9; i++) {
		struct task_thread *t =
			tasks_add_thread(&tasks, process, PID + 10 + i);

		make(t, 2, 2);
		ck_assert(!t->clock.fine == (i >= MAKERS_MAX));
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("outside_makers");
	TCase *c = tcase_create("makers");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, the_maker_of_a_short_thread_gets_a_fine_clock);
	tcase_add_test(
		c, long_threads_need_none_and_those_below_a_tick_gain_nothing);
	tcase_add_test(c, a_clock_of_one_tick_a_period_has_no_finer_one);
	tcase_add_test(c, a_short_thread_among_much_other_work_opens_none);
	tcase_add_test(c, what_existed_before_the_fine_clock_has_none);
	tcase_add_test(c, the_fine_clock_stays_while_short_threads_matter);
	tcase_add_test(c, the_fine_clock_goes_with_the_short_threads);
	tcase_add_test(c, the_fine_clock_goes_with_its_process);
	tcase_add_test(c, there_are_so_many_and_no_more);
	suite_add_tcase(s, c);
	return run_suite(s);
}
